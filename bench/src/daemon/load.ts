import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { abortable } from '../abortable.ts'
import type { Kinds, Order } from './load-host.ts'

export type Ask = <Kind extends keyof Kinds>(
  kind: Kind,
  order: Order<Kind>['order'],
) => Promise<Awaited<ReturnType<Kinds[Kind]>>>

/** One and the same process makes the load for everybody. */
export async function withLoad<T>(signal: AbortSignal, use: (ask: Ask) => Promise<T>): Promise<T> {
  const host = fork(fileURLToPath(new URL('./load-host.ts', import.meta.url)))
  const gone = once(host, 'exit')
  const failed = gone.then(([code]) => {
    throw new Error(`The process that makes the load ended with ${code}.`)
  })
  failed.catch(() => undefined)
  try {
    await Promise.race([once(host, 'message', { signal }), failed])
    const ask: Ask = async (kind, order) => {
      host.send({ kind, order })
      const [{ figures, error }] = await Promise.race([once(host, 'message', { signal }), failed])
      if (error !== undefined) throw new Error(error)
      return figures
    }
    return await abortable(signal, use(ask))
  } finally {
    if (signal.aborted) host.kill()
    else if (host.connected) host.send('end')
    await gone
  }
}
