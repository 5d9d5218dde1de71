import { toVitrineError } from '@vitrine/protocol'
import pc from 'picocolors'
import { escapeLinesForTerminal } from './escape-lines.ts'
import { createProgram } from './program.ts'
import { exitOnSignals } from './signals.ts'

/** Runs the command line of this process. */
export async function runCommand(): Promise<void> {
  // EPIPE: the reader of a pipe, such as `head`, has closed it.
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
