import type { Duplex } from 'node:stream'

const listeners = new WeakMap<Duplex, () => void>()

/** Calls the listener when a connection has shown a token. */
export function onAuthenticated(socket: Duplex, listener: () => void): void {
  listeners.set(socket, listener)
}

/** Notes that a connection has shown a token that the daemon knows, or that of a preview. */
export function setAuthenticated(socket: Duplex): void {
  listeners.get(socket)?.()
}
