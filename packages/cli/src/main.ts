#!/usr/bin/env node
import { keepCompiled } from './compiled.ts'

// Before anything else is loaded: only what comes later is kept.
keepCompiled()
const { runCommand } = await import('./run-command.ts')
await runCommand()
