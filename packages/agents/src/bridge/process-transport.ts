import type { ProcessExit } from '@vitrine/protocol'
import { settledWithin } from '@vitrine/protocol/primitives'
import { drainOutput, type PipedProcess, processMark } from '@vitrine/sandbox'
import type { StderrLines } from './stderr-lines.ts'
import type { AgentExit, AgentTransport } from './transport.ts'

/** Connects to an agent that is a program in a sandbox. */
export function processTransport(process: PipedProcess, stderr: StderrLines): AgentTransport {
  const { stdin, stdout } = process
  stdin.on('error', () => undefined)
  stdout.on('error', () => undefined)
  const drained = new Promise<void>((resolve) => {
    stdout.once('end', resolve)
    stdout.once('close', resolve)
  })
  let behind = false
  let bytes = 0
  const closed = process.observed.then(async (exit: ProcessExit): Promise<AgentExit> => {
    // Kill the processes that the agent left behind.
    await process.endTree().catch(() => undefined)
    // Another process that holds the pipe open is not waited for.
    await drainOutput(drained, () => ({ bytes, behind }))
    stdout.removeAllListeners('data')
    stdout.destroy()
    return { ...exit, stderr: stderr.excerpt() }
  })
  closed.catch(() => undefined)
  return {
    facts: { process: process.id, pid: process.pid },
    start: (take) =>
      void stdout.on('data', (chunk: Buffer) => {
        bytes += chunk.length
        take(chunk)
      }),
    pause() {
      behind = true
      stdout.pause()
    },
    resume() {
      behind = false
      stdout.resume()
    },
    write: (line) =>
      new Promise((resolve, reject) => {
        stdin.write(line, (error) => (error ? reject(error) : resolve()))
      }),
    stderr: () => stderr.excerpt('running'),
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
