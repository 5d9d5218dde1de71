/** The HTTP API of a host: REST, server-sent events, WebSockets, security by default. */
export {} from '@vitrine/protocol/require-node'

export type { Caller } from './guard/caller.ts'
export type { NamedToken } from './guard/tokens.ts'
export type { AccessEntry } from './http/access-log.ts'
export { type Listening, type ListenOptions, listen } from './listen.ts'
export { createServer, type Server, type ServerLimits, type ServerOptions } from './server.ts'
