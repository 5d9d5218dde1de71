import { toVitrineError } from '@vitrine/protocol'
import pc from 'picocolors'
import { escapeLinesForTerminal } from './escape-lines.ts'
import { createProgram } from './program.ts'
import { exitOnSignals } from './signals.ts'

/** The command that this process was started as. */
export async function runCommand(): Promise<void> {
  // Who pipes into `head` has seen enough.
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error
    process.exit(0)
  })
  exitOnSignals()
  try {
    await createProgram().parseAsync()
  } catch (thrown) {
    const error = toVitrineError(thrown)
    console.error(`${pc.red('error')} ${escapeLinesForTerminal(error.message)}`)
    console.error(pc.dim(escapeLinesForTerminal(`${error.code}: ${error.hint}`)))
    process.exitCode = 1
  }
}
