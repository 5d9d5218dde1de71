#!/usr/bin/env node
import { useCompileCache } from './compile-cache.ts'

// Before anything else is loaded: only what comes later is kept.
useCompileCache()
const { runCommand } = await import('./run-command.ts')
await runCommand()
