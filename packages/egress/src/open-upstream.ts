import type { Socket } from 'node:net'
import type { Semaphore } from '@vitrine/protocol/primitives'
import type { AllowList } from './allow-list.ts'
import { type Dialed, dial } from './dial.ts'
import type { RecordEgress } from './event.ts'
import { type ProxyResponse, proxyResponse } from './proxy-response.ts'
import { type ConnectTarget, type RecordedConnection, recordOpened, recordRefused } from './record.ts'
import { type Lookup, resolveTarget, shortReason } from './resolve.ts'
import { showTarget, type Target } from './target.ts'

/** The state that all connections of one proxy share. */
export interface EgressContext {
  readonly allow: AllowList
  readonly lookup: Lookup
  readonly record: RecordEgress
  readonly semaphore: Semaphore
  /** The open upstream sockets, which `close()` of the proxy destroys. */
  readonly upstreams: Set<Socket>
  readonly dialMs: number
  readonly idleMs: number | undefined
}

export interface UpstreamConnection {
  readonly upstream: Socket
  /** Resolves once the connection is closed and its end is recorded. */
  readonly ended: Promise<void>
}

/** Checks the target, records the connection, then dials: no connection is made that is not in the journal. */
export async function openUpstream(
  context: EgressContext,
  requested: ConnectTarget,
  signal: AbortSignal,
): Promise<UpstreamConnection | ProxyResponse> {
  const { record, semaphore } = context
  const { raw, target } = requested
  if (!('host' in target)) {
    await recordRefused(record, requested, `the request is invalid: ${target.reason}`)
    return proxyResponse(
      400,
      raw,
      target.reason,
      'Request one host and one port, such as registry.example:443.',
    )
  }
  const release = semaphore.tryAcquire()
  if (release === undefined) {
    const reason = `more than ${semaphore.limit} connections at once`
    await recordRefused(record, requested, reason)
    return proxyResponse(503, showTarget(target), `refused: ${reason}`, 'Close some and try again.')
  }
  let ended: Promise<void> | undefined
  try {
    const result = await resolveRecordAndDial(context, requested, target, signal)
    if ('ended' in result) ended = result.ended
    return result
  } finally {
    void (ended ?? Promise.resolve()).then(release)
  }
}

async function resolveRecordAndDial(
  context: EgressContext,
  requested: ConnectTarget,
  target: Target,
  signal: AbortSignal,
): Promise<UpstreamConnection | ProxyResponse> {
  const { record, dialMs } = context
  const shown = showTarget(target)
  const resolution = await resolveTarget(target, context, signal)
  if (resolution.kind === 'unresolvable') {
    await recordRefused(record, requested, resolution.reason)
    return proxyResponse(502, shown, resolution.reason)
  }
  if (resolution.kind === 'refused') {
    const { reason, address, allow } = resolution
    await recordRefused(record, requested, reason, { address, allow })
    return proxyResponse(403, shown, `refused: ${reason}`, remedyOf(allow))
  }

  const { addresses } = resolution
  let recorded: RecordedConnection
  try {
    recorded = await recordOpened(record, requested, addresses[0])
  } catch {
    return proxyResponse(503, shown, 'refused: the connection could not be recorded')
  }
  let dialed: Dialed
  try {
    dialed = await dial(addresses, target.port, { limitMs: dialMs, signal })
  } catch (error) {
    const reason = `it could not be reached: ${shortReason(error)}`
    const address = addresses.at(-1)
    await recorded.failed({ address, error: shortReason(error) })
    await recorded.closed({ address, reason, bytesIn: 0, bytesOut: 0 })
    return proxyResponse(502, shown, reason)
  }
  const { socket: upstream, address } = dialed
  context.upstreams.add(upstream)
  const ended = closed(upstream).then(() => {
    context.upstreams.delete(upstream)
    return recorded.closed({ address, bytesIn: upstream.bytesRead, bytesOut: upstream.bytesWritten })
  })
  return { upstream, ended }
}

/** A hint for the sandbox's owner: how to allow a refused target. */
function remedyOf(allow: string | undefined): string {
  return allow === undefined
    ? 'Fix the DNS resolver: it returned an invalid address.'
    : `To allow it, add ${JSON.stringify(allow)} to the allow-list of this sandbox.`
}

/** Resolves when a socket closes, with or without an error. */
export function closed(socket: Socket): Promise<void> {
  if (socket.closed) return Promise.resolve()
  return new Promise((resolve) => socket.once('close', () => resolve()))
}
