#!/usr/bin/env node
import { nodeVersionProblem } from '@vitrine/protocol/node-version'
import { useCompileCache } from './compile-cache.ts'

const problem = nodeVersionProblem(process.version)
if (problem !== undefined) {
  console.error(problem)
  process.exit(1)
}
// Before any other import: Node caches only modules that are loaded after this call.
useCompileCache()
const { runCommand } = await import('./run-command.ts')
await runCommand()
