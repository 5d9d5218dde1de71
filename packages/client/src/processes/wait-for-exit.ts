import { isVitrineError, type ProcessExit, type ProcessInfo } from '@vitrine/protocol'
import { askJson } from '../wire/ask.ts'
import { poll } from '../wire/poll.ts'
import type { Wire } from '../wire/wire.ts'
import { exitOf } from './process-info.ts'
import { recordedExit } from './recorded-exit.ts'

const waitMs = 25_000

/** The wire is at the sandbox. */
export async function waitForExit(wire: Wire, process: string): Promise<ProcessExit> {
  const question = () =>
    askJson<ProcessInfo>(wire, {
      path: ['processes', process],
      query: { wait: waitMs },
      limitMs: waitMs + wire.timeoutMs,
    })
  try {
    const info = await poll(wire, question, (answer) => exitOf(answer) !== undefined)
    return exitOf(info)!
  } catch (error) {
    if (!isVitrineError(error) || error.code !== 'sandbox_destroyed') throw error
    // It ended with its sandbox, and who held it is still told how.
    const exit = await recordedExit(wire, process)
    if (exit === undefined) throw error
    return exit
  }
}
