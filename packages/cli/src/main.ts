#!/usr/bin/env node
import { toVitrineError } from '@vitrine/protocol'
import pc from 'picocolors'
import { createProgram } from './program.ts'

try {
  await createProgram().parseAsync()
} catch (thrown) {
  const error = toVitrineError(thrown)
  console.error(`${pc.red('error')} ${error.message}`)
  console.error(pc.dim(`${error.code}: ${error.todo}`))
  process.exitCode = 1
}
