import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { abortable } from '../abortable.ts'
import type { Kinds, LoadJob } from './load-host.ts'

export type RunLoad = <Kind extends keyof Kinds>(
  kind: Kind,
  job: LoadJob<Kind>['job'],
) => Promise<Awaited<ReturnType<Kinds[Kind]>>>

/** Starts one process that generates the load for all servers. */
export async function withLoad<T>(signal: AbortSignal, use: (runLoad: RunLoad) => Promise<T>): Promise<T> {
  const host = fork(fileURLToPath(new URL('./load-host.ts', import.meta.url)))
  const gone = once(host, 'exit')
  const failed = gone.then(([code]) => {
    throw new Error(`The process that generates the load exited with ${code}.`)
  })
  failed.catch(() => undefined)
  try {
    await Promise.race([once(host, 'message', { signal }), failed])
    const runLoad: RunLoad = async (kind, job) => {
      host.send({ kind, job } satisfies LoadJob)
      const [{ figures, error }] = await Promise.race([once(host, 'message', { signal }), failed])
      if (error !== undefined) throw new Error(error)
      return figures
    }
    return await abortable(signal, use(runLoad))
  } finally {
    if (signal.aborted) host.kill()
    else if (host.connected) host.send('end')
    await gone
  }
}
