import { VitrineError } from '@vitrine/protocol'
import type { Committer } from './append/committer.ts'
import type { FlushOptions } from './journal.ts'
import type { Sinks } from './sinks/sinks.ts'

/** Resolves once everything appended is committed and delivered to every sink. */
export async function flushToSinks(
  committer: Committer,
  sinks: Sinks,
  { timeoutMs = 30_000, signal }: FlushOptions,
): Promise<void> {
  // Unlike the timer of `AbortSignal.timeout`, this one keeps the process alive until it fires.
  const timeout = new AbortController()
  const timer = setTimeout(() => timeout.abort(), timeoutMs)
  const either = signal ? AbortSignal.any([signal, timeout.signal]) : timeout.signal
  try {
    await committer.idle(either)
    await sinks.caughtUp(committer.position, either)
  } catch (error) {
    signal?.throwIfAborted()
    if (!timeout.signal.aborted) throw error
    const late = sinks.states
      .filter((sink) => sink.lag > 0)
      .map((sink) => `${sink.name} (${sink.error?.message ?? 'slow'})`)
    throw new VitrineError('timeout', `Not every sink caught up within ${timeoutMs} ms: ${late.join(', ')}.`)
  } finally {
    clearTimeout(timer)
  }
}
