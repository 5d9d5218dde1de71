#!/usr/bin/env node
import { toVitrineError } from '@vitrine/protocol'
import pc from 'picocolors'
import { createProgram } from './program.ts'
import { exitOnSignals } from './signals.ts'

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
  console.error(`${pc.red('error')} ${error.message}`)
  console.error(pc.dim(`${error.code}: ${error.todo}`))
  process.exitCode = 1
}
