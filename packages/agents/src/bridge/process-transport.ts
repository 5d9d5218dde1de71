import type { ProcessExit } from '@vitrine/protocol'
import { settledWithin } from '@vitrine/protocol/primitives'
import { type PipedProcess, processMark } from '@vitrine/sandbox'
import type { StderrLines } from './stderr-lines.ts'
import type { AgentExit, AgentTransport } from './transport.ts'

/** Silence on a dead agent's stdout after which it is closed; another process that holds the pipe open is not waited for. */
const lastBytesMs = 100
const maxLastWaits = 20

/** Connects to an agent that is a program in a sandbox. */
export function processTransport(process: PipedProcess, stderr: StderrLines): AgentTransport {
  const { stdin, stdout } = process
  stdin.on('error', () => undefined)
  stdout.on('error', () => undefined)
  const drained = new Promise<void>((resolve) => {
    stdout.once('end', resolve)
    stdout.once('close', resolve)
  })
  let paused = false
  let chunks = 0
  /** Reads what the agent wrote before it exited; waits without limit while backpressure pauses the pipe. */
  const lastBytes = async (): Promise<void> => {
    for (let left = maxLastWaits; left > 0; left -= paused ? 0 : 1) {
      const before = chunks
      if ((await settledWithin(drained, lastBytesMs)) || (chunks === before && !paused)) return
    }
  }
  const closed = process.observed.then(async (exit: ProcessExit): Promise<AgentExit> => {
    // Kill the processes that the agent left behind.
    await process.endTree().catch(() => undefined)
    await lastBytes()
    stdout.removeAllListeners('data')
    stdout.destroy()
    return { ...exit, stderr: stderr.excerpt() }
  })
  closed.catch(() => undefined)
  return {
    facts: { process: process.id, pid: process.pid },
    start: (take) =>
      void stdout.on('data', (bytes: Buffer) => {
        chunks += 1
        take(bytes)
      }),
    pause() {
      paused = true
      stdout.pause()
    },
    resume() {
      paused = false
      stdout.resume()
    },
    write: (line) =>
      new Promise((resolve, reject) => {
        stdin.write(line, (error) => (error ? reject(error) : resolve()))
      }),
    exited: process.observed.catch(() => undefined),
    closed,
    async end(graceMs) {
      stdin.end()
      await settledWithin(closed, graceMs)
      await process.stop(0).catch(() => undefined)
      await closed
    },
    killStartedAfter: (mark) => process.killStartedAfter(mark),
    processMark,
  }
}
