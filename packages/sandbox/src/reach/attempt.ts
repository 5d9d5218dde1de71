import { once } from 'node:events'
import type { Socket } from 'node:net'
import type { AllowList } from './allow-list.ts'
import { type Answer, answer } from './answer.ts'
import { type Dialed, dial } from './dial.ts'
import { boundedHost, type ConnectionData, newConnectionId, type RecordReach } from './event.ts'
import { type Lookup, resolveTarget, shortReason } from './resolve.ts'
import type { Seats } from './seats.ts'
import { showTarget, type Target, type Unreadable } from './target.ts'

/** What all attempts of one proxy share. */
export interface Reach {
  readonly allow: AllowList
  readonly lookup: Lookup
  readonly record: RecordReach
  readonly seats: Seats
  readonly dialMs: number
}

/** What a program asked for: as written, and as understood. */
export interface Asked {
  readonly raw: string
  readonly target: Target | Unreadable
  readonly process: string | undefined
}

export interface Reached {
  readonly upstream: Socket
  /** Once the connection is over and that is recorded. */
  readonly over: Promise<void>
}

/** Judges, records, then dials: in this order, so that nothing is reached that the journal does not know. */
export async function attempt(reach: Reach, asked: Asked, signal: AbortSignal): Promise<Reached | Answer> {
  const { raw, target } = asked
  if (!('host' in target)) {
    await recordRefusal(reach, asked, `the target is not understood: ${target.reason}`)
    return answer(400, raw, target.reason, 'Ask for one host and one port, such as registry.example:443.')
  }
  const leave = reach.seats.take()
  if (leave === undefined) {
    const reason = `${reach.seats.count} connections are open already, as many as are allowed at once`
    await recordRefusal(reach, asked, reason)
    return answer(503, showTarget(target), reason, 'Close some and try again.')
  }
  const reached = await attemptSeated(reach, asked, target, signal).catch((error: unknown) => {
    leave()
    throw error
  })
  if ('status' in reached) leave()
  else void reached.over.finally(leave)
  return reached
}

async function attemptSeated(
  reach: Reach,
  asked: Asked,
  target: Target,
  signal: AbortSignal,
): Promise<Reached | Answer> {
  const shown = showTarget(target)
  const resolution = await resolveTarget(target, { ...reach, limitMs: reach.dialMs })
  if (resolution.kind !== 'checked') {
    const { kind, reason } = resolution
    await recordRefusal(reach, asked, reason, 'address' in resolution ? resolution.address : undefined)
    if (kind === 'unresolvable') return answer(502, shown, reason)
    return answer(403, shown, `refused, because ${reason}`, adviceFor(shown, reason))
  }

  const { addresses } = resolution
  const data: ConnectionData = { connection: newConnectionId(), ...target, ...processOf(asked) }
  const started = performance.now()
  try {
    await reach.record({
      type: 'network.allowed',
      data: { ...data, phase: 'opened', ...addressOf(addresses[0]) },
    })
  } catch {
    return answer(503, shown, 'refused, because the connection could not be recorded')
  }
  const recordClosed = (more: Partial<ConnectionData>) => {
    const durationMs = Math.round(performance.now() - started)
    const closed = { ...data, phase: 'closed' as const, bytesIn: 0, bytesOut: 0, durationMs, ...more }
    return attemptRecord(reach, { type: 'network.allowed', data: closed })
  }

  let dialed: Dialed
  try {
    dialed = await dial(addresses, target.port, { limitMs: reach.dialMs, signal })
  } catch (error) {
    const reason = `it could not be reached: ${shortReason(error)}`
    await recordClosed({ reason, ...addressOf(addresses.at(-1)) })
    return answer(502, shown, reason)
  }
  const { socket: upstream, address } = dialed
  const over = closing(upstream).then(() =>
    recordClosed({ address, bytesIn: upstream.bytesRead, bytesOut: upstream.bytesWritten }),
  )
  return { upstream, over }
}

/** A refusal stands, whether or not it could be written down. */
export function recordRefusal(reach: Reach, asked: Asked, reason: string, address?: string): Promise<void> {
  const { host, port } = 'host' in asked.target ? asked.target : { host: boundedHost(asked.raw), port: 0 }
  const data = { connection: newConnectionId(), host, port, reason, ...addressOf(address), ...processOf(asked) }
  return attemptRecord(reach, { type: 'network.refused', data })
}

/** For what has happened already; the next connection finds out by itself that nothing can be recorded. */
async function attemptRecord({ record }: Reach, event: Parameters<RecordReach>[0]): Promise<void> {
  try {
    await record(event)
  } catch {}
}

async function closing(socket: Socket): Promise<void> {
  if (!socket.closed) await once(socket, 'close')
}

const addressOf = (address: string | undefined) => (address ? { address } : {})
const processOf = ({ process }: Asked) => (process === undefined ? {} : { process })
