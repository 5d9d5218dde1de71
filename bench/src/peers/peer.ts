/** What is asked of another library's local sandbox. */
export interface Peer {
  readonly name: string
  /** What it does not do that our figure beside it includes. */
  readonly without: string
  exec(command: string): Promise<unknown>
  /** With the peer's own way to give up after a time. */
  execWithin(command: string, milliseconds: number): Promise<unknown>
  /** Starts a command and leaves it running. */
  start(command: string): Promise<unknown>
  close(): Promise<void>
}
