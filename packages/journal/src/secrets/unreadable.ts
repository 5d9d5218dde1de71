import { VitrineError } from '@vitrine/protocol'

/** The values to mask cannot be read, so events would be written without masking them. */
export function secretsUnreadable(what: string, remedy: string, cause?: unknown): VitrineError {
  return new VitrineError(
    'secrets_unreadable',
    `The stored values to mask cannot be read: ${what}. Nothing was opened, because earlier credentials would not be masked. To mend it, ${remedy}.`,
    cause === undefined ? {} : { cause },
  )
}
