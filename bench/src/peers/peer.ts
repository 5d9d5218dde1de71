/** A local sandbox of another library that is measured for comparison: the calls that the benchmarks use. */
export interface Peer {
  readonly name: string
  /** The work that our figure includes and the peer does not do. */
  readonly without: string
  /** The path of its workspace. */
  readonly root: string
  exec(command: string): Promise<unknown>
  /** Runs a command with the peer's own timeout. */
  execWithTimeout(command: string, milliseconds: number): Promise<unknown>
  /** Starts a command and leaves it running. */
  start(command: string): Promise<unknown>
  readFile(path: string): Promise<unknown>
  /** Creates a file at a path that does not exist yet. */
  createFile(path: string, text: string): Promise<unknown>
  list(path: string): Promise<unknown>
  /** Absent if the peer cannot archive its workspace. */
  readonly archive?: {
    persist(): Promise<Uint8Array>
    hydrate(archive: Uint8Array): Promise<void>
  }
  close(): Promise<void>
}
