import { connect, type Socket } from 'node:net'
import type { EgressEvent, Target } from '@vitrine/egress'
import { randomHex } from '@vitrine/protocol'
import { systemErrorCode } from '@vitrine/protocol/primitives'

type RecordEvent = (event: EgressEvent) => Promise<void>

/**
 * Connects a socket of the sandbox with the first of these servers of the host that accepts. Each attempt is recorded
 * before it is made; a connection that cannot be recorded is closed.
 */
export async function forwardToHost(
  socket: Socket,
  targets: readonly Target[],
  processId: string | undefined,
  record: RecordEvent,
): Promise<void> {
  socket.on('error', () => undefined)
  const last = targets.length - 1
  for (const [index, target] of targets.entries()) {
    const attempt = { target, processId, record, onFailed: index === last ? 'close' : 'next' } as const
    if (await connects(socket, attempt)) return
  }
}

interface Attempt {
  readonly target: Target
  readonly processId: string | undefined
  readonly record: RecordEvent
  readonly onFailed: 'close' | 'next'
}

/** Resolves to whether the socket needs no other target. */
async function connects(
  socket: Socket,
  { target: { host, port }, processId, record, onFailed }: Attempt,
): Promise<boolean> {
  const connection = `conn_${randomHex(16)}`
  const common = { connection, host, port, ...(processId && { process: processId }) }
  const began = performance.now()
  try {
    await record({ type: 'network.allowed', data: { ...common, phase: 'opened' } })
  } catch {
    socket.destroy()
    return true
  }
  const upstream = connect({ port, host, autoSelectFamily: true, allowHalfOpen: true })
  const settled = Promise.withResolvers<boolean>()
  let connected = false
  let reason: string | undefined
  upstream.once('connect', () => {
    connected = true
    socket.pipe(upstream)
    upstream.pipe(socket)
    settled.resolve(true)
  })
  upstream.on('error', (error) => {
    // The error of several attempts has a code, but no message.
    reason = systemErrorCode(error) ?? error.message
  })
  const close = () => upstream.destroy()
  socket.once('close', close)
  if (socket.destroyed) close()
  upstream.once('close', async () => {
    socket.off('close', close)
    const durationMs = performance.now() - began
    const { bytesRead: bytesIn, bytesWritten: bytesOut } = upstream
    const ending = { ...common, durationMs, ...(reason && { reason }) }
    // On record before the program inside sees that its connection has closed.
    if (!connected && reason !== undefined)
      await record({ type: 'network.failed', data: { ...common, durationMs, error: reason } }).catch(
        () => undefined,
      )
    if (connected || onFailed === 'close') socket.destroy()
    record({ type: 'network.allowed', data: { ...ending, phase: 'closed', bytesIn, bytesOut } }).catch(
      () => undefined,
    )
    settled.resolve(socket.destroyed)
  })
  return settled.promise
}
