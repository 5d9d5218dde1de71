import { setTimeout as sleep } from 'node:timers/promises'
import { inspect } from 'node:util'
import { signalCodes, takeSignals } from '../signals.ts'
import type { RunningDaemon } from './start.ts'

const closeMs = 4_500
const recordMs = 1_000
/** One Ctrl-C may come several times: from the terminal, and again from npm. */
const sameKeyMs = 300

/** Why a daemon ends. */
export type End = { readonly by: 'signal' } | { readonly by: 'error'; readonly error: unknown }

/** The first signal, or the first error that nobody expected. A second signal does not wait for anything. */
export function nextEnd(): Promise<End> {
  const { promise, resolve } = Promise.withResolvers<End>()
  let first: number | undefined
  takeSignals(['SIGHUP', 'SIGINT', 'SIGTERM'], (signal) => {
    first ??= performance.now()
    if (performance.now() - first > sameKeyMs) process.exit(signalCodes[signal])
    resolve({ by: 'signal' })
  })
  onUnexpected((error) => resolve({ by: 'error', error }))
  // Nobody may be left to read it; that is no reason to end.
  process.stderr.on('error', () => undefined)
  return promise
}

function onUnexpected(handle: (error: unknown) => void): void {
  for (const kind of ['uncaughtException', 'unhandledRejection'] as const) process.on(kind, handle)
}

/** Closes it in good order, but not for ever; the code to exit with. */
export async function endDaemon(daemon: RunningDaemon, end: End): Promise<number> {
  const report = (text: string) => console.error(daemon.withoutTokens(text))
  if (end.by === 'error') {
    report(`vitrine: an error that nobody expected: ${inspect(end.error)}`)
    await within(recordMs, recordError(daemon, end.error))
  }
  onUnexpected((error) => report(`vitrine: while closing: ${inspect(error)}`))
  const closing = daemon.close().then(
    () => 'closed' as const,
    (error: unknown) => report(`vitrine: closing failed: ${inspect(error)}`),
  )
  if ((await within(closeMs, closing)) === 'closed') return end.by === 'signal' ? 0 : 1
  report('vitrine: not everything ended in order; the next start ends what is left.')
  return 1
}

async function recordError({ host, withoutTokens }: RunningDaemon, error: unknown): Promise<void> {
  try {
    const journal = await host.store.journal('host', { source: 'host' })
    const message = withoutTokens(error instanceof Error ? (error.stack ?? error.message) : inspect(error))
    await journal.append([{ type: 'log.message', data: { level: 'error', message } }])
  } catch {
    // The store may be what failed; it was said on stderr.
  }
}

async function within<T>(milliseconds: number, promise: Promise<T>): Promise<T | undefined> {
  return Promise.race([promise, sleep(milliseconds, undefined, { ref: false })])
}
