#!/usr/bin/env node
/**
 * The demo agent: a program that speaks the Agent Client Protocol on its pipes, without a model and without network.
 * `/help` as a prompt lists what it does; `settings.ts` lists what the environment changes.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { demoAgent } from './agent.ts'
import { version } from './offer.ts'
import { readSettings } from './settings.ts'
import { killRunning } from './spawned.ts'
import { openWire } from './wire.ts'

if (process.argv.includes('--version')) {
  process.stdout.write(`${version}\n`)
} else {
  await serve()
}

async function serve(): Promise<void> {
  const settings = readSettings(process.env)
  process.on('exit', killRunning)
  if (settings.ignoreEnd) {
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
  const wire = openWire(process.stdin, process.stdout)
  demoAgent(settings, wire).connect(wire.stream)
}
