import type { Socket } from 'node:net'
import type { AllowList } from './allow-list.ts'
import { type Dialed, dial } from './dial.ts'
import type { RecordReach } from './event.ts'
import { answer, type ProxyResponse } from './proxy-response.ts'
import { type ConnectTarget, recordOpened, recordRefused } from './record.ts'
import { type Lookup, resolveTarget, shortReason } from './resolve.ts'
import type { Semaphore } from './semaphore.ts'
import { showTarget, type Target } from './target.ts'

/** What all attempts of one proxy share. */
export interface Reach {
  readonly allow: AllowList
  readonly lookup: Lookup
  readonly record: RecordReach
  readonly seats: Semaphore
  /** What is open outwards, for whoever has to end it. */
  readonly upstreams: Set<Socket>
  readonly dialMs: number
  readonly idleMs: number | undefined
}

export interface Reached {
  readonly upstream: Socket
  /** Once the connection is over and that is recorded. */
  readonly over: Promise<void>
}

/** Judges, records, then dials: in this order, so that nothing is reached that the journal does not know. */
export async function attempt(
  reach: Reach,
  asked: ConnectTarget,
  signal: AbortSignal,
): Promise<Reached | ProxyResponse> {
  const { record, seats } = reach
  const { raw, target } = asked
  if (!('host' in target)) {
    await recordRefused(record, asked, `the request is not understood: ${target.reason}`)
    return answer(400, raw, target.reason, 'Ask for one host and one port, such as registry.example:443.')
  }
  const leave = seats.take()
  if (leave === undefined) {
    const reason = `more than ${seats.count} connections at once`
    await recordRefused(record, asked, reason)
    return answer(503, showTarget(target), `refused: ${reason}`, 'Close some and try again.')
  }
  let over: Promise<void> | undefined
  try {
    const reached = await attemptSeated(reach, asked, target, signal)
    if ('over' in reached) over = reached.over
    return reached
  } finally {
    void (over ?? Promise.resolve()).then(leave)
  }
}

async function attemptSeated(
  reach: Reach,
  asked: ConnectTarget,
  target: Target,
  signal: AbortSignal,
): Promise<Reached | ProxyResponse> {
  const { record, dialMs } = reach
  const shown = showTarget(target)
  const resolution = await resolveTarget(target, reach, signal)
  if (resolution.kind === 'unresolvable') {
    await recordRefused(record, asked, resolution.reason)
    return answer(502, shown, resolution.reason)
  }
  if (resolution.kind === 'refused') {
    const { reason, address, remedy } = resolution
    await recordRefused(record, asked, reason, address)
    return answer(403, shown, `refused: ${reason}`, remedy)
  }

  const { addresses } = resolution
  let recordClosed: Awaited<ReturnType<typeof recordOpened>>
  try {
    recordClosed = await recordOpened(record, asked, addresses[0])
  } catch {
    return answer(503, shown, 'refused: the connection could not be recorded')
  }
  let dialed: Dialed
  try {
    dialed = await dial(addresses, target.port, { limitMs: dialMs, signal })
  } catch (error) {
    const reason = `it could not be reached: ${shortReason(error)}`
    await recordClosed({ address: addresses.at(-1), reason, bytesIn: 0, bytesOut: 0 })
    return answer(502, shown, reason)
  }
  const { socket: upstream, address } = dialed
  reach.upstreams.add(upstream)
  const over = closed(upstream).then(() => {
    reach.upstreams.delete(upstream)
    return recordClosed({ address, bytesIn: upstream.bytesRead, bytesOut: upstream.bytesWritten })
  })
  return { upstream, over }
}

/** However it closes: with an error or without. */
export function closed(socket: Socket): Promise<void> {
  if (socket.closed) return Promise.resolve()
  return new Promise((resolve) => socket.once('close', () => resolve()))
}
