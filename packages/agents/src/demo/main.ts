#!/usr/bin/env node
/**
 * The demo agent: a program that speaks the Agent Client Protocol over stdio, without a model and without network.
 * The prompt `/help` lists its commands; `settings.ts` lists its environment variables.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { demoAgent } from './agent.ts'
import { killRunning } from './child-process.ts'
import { openConnection } from './connection.ts'
import { version } from './initialize-response.ts'
import { readSettings } from './settings.ts'

if (process.argv.includes('--version')) {
  process.stdout.write(`${version}\n`)
} else {
  await serve()
}

async function serve(): Promise<void> {
  const settings = readSettings(process.env)
  process.on('exit', killRunning)
  if (settings.ignoreEof) {
    for (const signal of ['SIGTERM', 'SIGHUP', 'SIGINT'] as const) process.on(signal, () => {})
    process.stdout.on('error', () => {})
    setInterval(() => {}, 60_000)
  } else {
    for (const signal of ['SIGTERM', 'SIGHUP', 'SIGINT'] as const) {
      process.once(signal, () => {
        killRunning()
        process.kill(process.pid, signal)
      })
    }
    process.stdin.once('end', () => process.exit(0))
    process.stdout.on('error', () => process.exit(0))
  }
  process.stderr.on('error', () => {})
  if (settings.slowStartMs > 0) await sleep(settings.slowStartMs)
  const connection = openConnection(process.stdin, process.stdout)
  demoAgent(settings, connection).connect(connection.stream)
}
