import { connect, type Socket } from 'node:net'

export interface Dialed {
  readonly socket: Socket
  readonly address: string
}

/**
 * Connects to the first address that accepts. It takes checked addresses, never a name, because a second lookup could
 * resolve differently. The time limit is divided among the addresses.
 */
export async function dial(
  addresses: readonly string[],
  port: number,
  { limitMs, signal }: { limitMs: number; signal: AbortSignal },
): Promise<Dialed> {
  let failure: unknown = new Error('there is no address to dial')
  for (const address of addresses) {
    if (signal.aborted) throw new Error('the client went away')
    try {
      return { socket: await dialOne(address, port, limitMs / addresses.length, signal), address }
    } catch (error) {
      failure = error
    }
  }
  throw failure
}

function dialOne(address: string, port: number, limitMs: number, signal: AbortSignal): Promise<Socket> {
  const { promise, resolve, reject } = Promise.withResolvers<Socket>()
  const socket = connect({ host: address, port, allowHalfOpen: true, noDelay: true })
  const giveUp = (why: string) => socket.destroy(new Error(why))
  const onAbort = () => giveUp('the client went away')
  const timer = setTimeout(() => giveUp('the connection attempt timed out'), limitMs)
  signal.addEventListener('abort', onAbort)
  socket.once('connect', () => resolve(socket))
  socket.on('error', reject)
  return promise.finally(() => {
    clearTimeout(timer)
    signal.removeEventListener('abort', onAbort)
  })
}
