import type { ProcessExit, ProcessInfo } from '@vitrine/protocol'
import { askJson } from '../wire/ask.ts'
import { poll } from '../wire/poll.ts'
import type { Wire } from '../wire/wire.ts'
import { exitOf } from './process-info.ts'

const waitMs = 25_000

/** The wire is at the process. */
export async function waitForExit(wire: Wire): Promise<ProcessExit> {
  const question = () =>
    askJson<ProcessInfo>(wire, { path: [], query: { wait: waitMs }, limitMs: waitMs + wire.timeoutMs })
  const info = await poll(wire, question, (answer) => exitOf(answer) !== undefined)
  return exitOf(info)!
}
