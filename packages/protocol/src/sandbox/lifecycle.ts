import type { Command } from './processes.ts'

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
  /** What is done before a stop persists the workspace: a function, or, also from afar, a command. */
  onBeforeStop(hook: (() => void | Promise<void>) | Command): Promise<void>
  /** Keeps a path of the workspace out of what is persisted. Gives back the path as it was understood. */
  skipOnPersist(path: string): Promise<string>
}
