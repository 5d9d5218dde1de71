/** The features of an implementation, as the conformance kit measures them. */
export interface Capabilities {
  /** Whether it runs commands: `exec`, `spawn`, the terminal calls, `processes` and `ports`. */
  readonly commands: boolean
  /** Whether it has a workspace: `files`, `persist` and `hydrate`. */
  readonly files: boolean
  readonly isolation: 'none' | 'namespaces' | 'container' | 'machine'
  /** `complete` kills every process; `best-effort` may miss one that left its process group. */
  readonly killTree: 'complete' | 'best-effort'
  readonly network: readonly ('none' | 'host' | 'egress')[]
  /** `disk-exact`: the kernel refuses to write more. `disk-accounted`: measured while commands run. */
  readonly limits: readonly ('memory' | 'cpu' | 'pids' | 'tmp' | 'disk-exact' | 'disk-accounted')[]
  readonly terminals: boolean
  readonly pause: 'freezer' | 'signals' | 'none'
  readonly watching: 'native' | 'poll' | 'none'
  readonly users: boolean
  readonly snapshots: boolean
}
