import { setTimeout as sleep } from 'node:timers/promises'
import type { ProcessExit } from '@vitrine/protocol'
import { type PipedProcess, processMark } from '@vitrine/sandbox'
import type { StderrLines } from './stderr-lines.ts'
import type { AgentExit, AgentTransport } from './transport.ts'

/** How long nothing may come from a dead agent's pipe before it is left; whoever else holds it is not waited for. */
const lastBytesMs = 100
const lastWaits = 20

/** An agent that is a program in a sandbox. */
export function processTransport(process: PipedProcess, stderr: StderrLines): AgentTransport {
  const { stdin, stdout } = process
  stdin.on('error', () => undefined)
  stdout.on('error', () => undefined)
  const drained = new Promise<void>((resolve) => {
    stdout.once('end', resolve)
    stdout.once('close', resolve)
  })
  let held = false
  let heard = 0
  /** What it wrote before its end is read, however long it takes to put that on record. */
  const lastBytes = async (): Promise<void> => {
    for (let left = lastWaits; left > 0; left -= held ? 0 : 1) {
      const before = heard
      const late = sleep(lastBytesMs, 'late', { ref: false })
      if ((await Promise.race([drained, late])) !== 'late' || (heard === before && !held)) return
    }
  }
  const ended = process.observed.then(async (exit: ProcessExit): Promise<AgentExit> => {
    // What it left behind goes with it.
    await process.endTree().catch(() => undefined)
    await lastBytes()
    stdout.removeAllListeners('data')
    stdout.destroy()
    return { ...exit, stderr: stderr.words() }
  })
  ended.catch(() => undefined)
  return {
    facts: { process: process.id, pid: process.pid },
    start: (take) =>
      void stdout.on('data', (bytes: Buffer) => {
        heard += 1
        take(bytes)
      }),
    pause() {
      held = true
      stdout.pause()
    },
    resume() {
      held = false
      stdout.resume()
    },
    write: (line) =>
      new Promise((resolve, reject) => {
        stdin.write(line, (error) => (error ? reject(error) : resolve()))
      }),
    gone: process.observed.catch(() => undefined),
    ended,
    async end(graceMs) {
      stdin.end()
      await Promise.race([ended, sleep(graceMs, undefined, { ref: false })])
      await process.stop(0).catch(() => undefined)
      await ended
    },
    endChildrenSince: (moment) => process.killStartedAfter(moment),
    now: processMark,
  }
}
