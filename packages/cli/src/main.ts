#!/usr/bin/env node
import { useCompileCache } from './compile-cache.ts'

// Before any other import: Node caches only modules that are loaded after this call.
useCompileCache()
const { runCommand } = await import('./run-command.ts')
await runCommand()
