/** What is asked of another library's local sandbox. */
export interface Peer {
  readonly name: string
  /** What it does not do that our figure beside it includes. */
  readonly without: string
  /** Its workspace on this machine. */
  readonly root: string
  exec(command: string): Promise<unknown>
  /** With the peer's own way to give up after a time. */
  execWithTimeout(command: string, milliseconds: number): Promise<unknown>
  /** Starts a command and leaves it running. */
  start(command: string): Promise<unknown>
  readFile(path: string): Promise<unknown>
  /** Of a path that is not there yet. */
  createFile(path: string, text: string): Promise<unknown>
  list(path: string): Promise<unknown>
  /** Absent where it has no way to put its workspace into a file. */
  readonly archive?: {
    persist(): Promise<Uint8Array>
    hydrate(archive: Uint8Array): Promise<void>
  }
  close(): Promise<void>
}
