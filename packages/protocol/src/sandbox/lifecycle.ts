export interface Lifecycle {
  start(): Promise<void>
  /** Runs the before-stop hooks, then persists the workspace. */
  stop(): Promise<void>
  /** Ends every process; the workspace stays. */
  shutdown(): Promise<void>
  pause(): Promise<void>
  resume(): Promise<void>
  /** Removes the workspace, never the journal. */
  destroy(): Promise<void>
  running(): Promise<boolean>
  onBeforeStop(hook: () => void | Promise<void>): void
  /** Keeps a path of the workspace out of what is persisted. Gives back the path as it was understood. */
  skipOnPersist(path: string): string
}
