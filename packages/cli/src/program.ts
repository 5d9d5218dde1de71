import { readFileSync } from 'node:fs'
import { Command } from 'commander'
import { demo } from './demo/demo.ts'

const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'))

/** The `vitrine` command. */
export function createProgram(): Command {
  const program = new Command('vitrine')
    .description('Runs coding agents in sandboxes you can see into.')
    .version(version)
    .showHelpAfterError('(run "vitrine --help" for what there is)')

  program
    .command('demo')
    .description('Real operations on real files in a temporary folder, the journal scrolling by.')
    .option('--keep', 'leave the folder behind, to look at the journal and the audit log')
    .option('--fast', 'without pauses for reading (the default when the output is not a terminal)')
    .addHelpText('after', '\nExamples:\n  $ vitrine demo\n  $ vitrine demo --fast --keep')
    .action(async (options: { keep?: boolean; fast?: boolean }) => {
      const pauseMs = options.fast || !process.stdout.isTTY ? 0 : 120
      await demo({
        keep: options.keep ?? false,
        pauseMs,
        print: (line) => console.log(line),
        // A terminal that does not know its size says 0.
        width: process.stdout.columns || 120,
      })
    })

  return program
}
