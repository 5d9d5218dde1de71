/** Follows a workspace; everything it sees goes into the journal. */
export interface Watcher {
  /** Once every change that was made before the call is in the journal. */
  flush(): Promise<void>
  /** After a last look. */
  close(): Promise<void>
}
