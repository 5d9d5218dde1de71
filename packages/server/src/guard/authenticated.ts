import type { Duplex } from 'node:stream'
import type { Caller } from './caller.ts'

type Listener = (access: Caller['access']) => void

const listeners = new WeakMap<Duplex, Listener>()

/** Calls the listener when a connection has shown a token. */
export function onAuthenticated(socket: Duplex, listener: Listener): void {
  listeners.set(socket, listener)
}

/**
 * Notes that a connection has shown a token that the daemon knows, or that of a preview, which has read access. Throws if
 * there are too many such connections.
 */
export function setAuthenticated(socket: Duplex, access: Caller['access']): void {
  listeners.get(socket)?.(access)
}
