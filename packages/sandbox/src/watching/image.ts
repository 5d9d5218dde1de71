/**
 * The stored content of a file: its blob, or the reason why it was not stored. The recorder sets the hash when it prepares
 * the blob, so a node and the changes of its file share one object.
 */
export interface Image {
  hash?: string
  /** The reason why the content was not stored. */
  omitted?: string
  /** A secret was masked in the stored content. */
  redacted?: boolean
}

/** The image of a file that was not written to since the initial scan. */
export const untouched: Image = Object.freeze({ omitted: 'unchanged' })
