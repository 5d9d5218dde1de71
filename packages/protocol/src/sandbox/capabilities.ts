/** What an implementation can do, measured by the conformance kit, never assumed. */
export interface Capabilities {
  readonly isolation: 'none' | 'namespaces' | 'container' | 'machine'
  /** `complete` reaches every process; `best-effort` may miss one that hides. */
  readonly killTree: 'complete' | 'best-effort'
  readonly network: readonly ('none' | 'host' | 'egress')[]
  readonly limits: readonly ('memory' | 'cpu' | 'pids')[]
  readonly terminals: boolean
  readonly pause: 'freezer' | 'signals' | 'none'
  readonly watching: 'native' | 'poll' | 'none'
  readonly users: boolean
  readonly snapshots: boolean
}
