import { setTimeout as sleep } from 'node:timers/promises'
import type { ProcessExit } from '@vitrine/protocol'
import { type TalkingProcess, ticksNow } from '@vitrine/sandbox'
import type { StderrLines } from './stderr-lines.ts'
import type { AgentExit, AgentTransport } from './transport.ts'

/** How long the last bytes of a dead agent may take; whoever else holds its pipe is not waited for. */
const lastBytesMs = 100

/** An agent that is a program in a sandbox. */
export function processTransport(process: TalkingProcess, stderr: StderrLines): AgentTransport {
  const { stdin, stdout } = process
  stdin.on('error', () => undefined)
  stdout.on('error', () => undefined)
  const drained = new Promise<void>((resolve) => {
    stdout.once('end', resolve)
    stdout.once('close', resolve)
  })
  const ended = process.observed.then(async (exit: ProcessExit): Promise<AgentExit> => {
    await Promise.race([drained, sleep(lastBytesMs, undefined, { ref: false })])
    stdout.removeAllListeners('data')
    stdout.destroy()
    // What it left behind goes with it.
    await process.endTree().catch(() => undefined)
    return { ...exit, stderr: stderr.words() }
  })
  ended.catch(() => undefined)
  return {
    facts: { process: process.id, pid: process.pid },
    start: (take) => void stdout.on('data', take),
    hold: () => void stdout.pause(),
    release: () => void stdout.resume(),
    write: (line) =>
      new Promise((resolve, reject) => {
        stdin.write(line, (error) => (error ? reject(error) : resolve()))
      }),
    ended,
    async end(graceMs) {
      stdin.end()
      await Promise.race([ended, sleep(graceMs, undefined, { ref: false })])
      await process.stop(0).catch(() => undefined)
      await ended
    },
    endChildrenSince: (moment) => process.killSince(moment),
    now: ticksNow,
  }
}
