/** The allow-list proxy: the only way out for a sandbox without network. */
export {} from '@vitrine/protocol/require-node'

export { type AddressKind, addressKind } from './address.ts'
export { type AllowList, readAllowList } from './allow-list.ts'
export { proxyEnvironment } from './environment.ts'
export type { ConnectionData, EgressEvent, RecordEgress } from './event.ts'
export { createEgressProxy, type EgressLimits, type EgressProxy, type EgressProxyOptions } from './proxy.ts'
export { readTarget, type Target, type UnreadableTarget } from './target.ts'
