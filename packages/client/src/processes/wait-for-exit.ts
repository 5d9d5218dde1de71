import { isVitrineError, type ProcessExit, type ProcessInfo } from '@vitrine/protocol'
import type { HttpClient } from '../http/http-client.ts'
import { poll } from '../http/poll.ts'
import { requestJson } from '../http/request.ts'
import { exitOf } from './process-info.ts'
import { recordedExit } from './recorded-exit.ts'

const waitMs = 25_000

/** Waits until a process has exited. `http` is scoped to the sandbox. */
export async function waitForExit(http: HttpClient, process: string): Promise<ProcessExit> {
  const request = () =>
    requestJson<ProcessInfo>(http, {
      path: ['processes', process],
      query: { wait: waitMs, live: true },
      limitMs: waitMs + http.timeoutMs,
    })
  try {
    const info = await poll(http, request, (info) => exitOf(info) !== undefined)
    return exitOf(info)!
  } catch (error) {
    if (!isVitrineError(error) || error.code !== 'sandbox_destroyed') throw error
    // The process ended with its sandbox; the journal still has its exit.
    const exit = await recordedExit(http, process)
    if (exit === undefined) throw error
    return exit
  }
}
