import type { Command } from 'commander'

export function addDemo(program: Command): void {
  program
    .command('demo')
    .description('Real operations on real files in a temporary folder, the journal scrolling by.')
    .option('--keep', 'leave the folder behind, to look at the journal and the audit log')
    .option('--fast', 'without pauses for reading (the default when the output is not a terminal)')
    .addHelpText('after', '\nExamples:\n  $ vitrine demo\n  $ vitrine demo --fast --keep')
    .action(async (options: { keep?: boolean; fast?: boolean }) => {
      const { demo } = await import('./demo.ts')
      const pauseMs = options.fast || !process.stdout.isTTY ? 0 : 120
      await demo({
        keep: options.keep ?? false,
        pauseMs,
        print: (line) => console.log(line),
        // A terminal that does not know its size says 0.
        width: process.stdout.columns || 120,
      })
    })
}
