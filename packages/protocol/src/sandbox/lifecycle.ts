import type { Command } from './processes.ts'

/**
 * How a sandbox starts and ends. All of these keep the journal; `close()` of a sandbox releases its handle. What each of
 * them ends and keeps is a table in docs/persistence.md.
 */
export interface Lifecycle {
  start(): Promise<void>
  /** Runs the before-stop hooks, persists the workspace and ends every process. */
  stop(): Promise<void>
  /** Ends every process, without hooks, and keeps the workspace. */
  shutdown(): Promise<void>
  pause(): Promise<void>
  resume(): Promise<void>
  /** Removes the workspace, never the journal. */
  destroy(): Promise<void>
  running(): Promise<boolean>
  /** Registers a hook that runs before `stop` persists the workspace: a function (in process only) or a command. */
  onBeforeStop(hook: (() => void | Promise<void>) | Command): Promise<void>
  /** Excludes a path of the workspace from persisting; returns the normalised path. */
  skipOnPersist(path: string): Promise<string>
}
