import { encodePathText } from '@vitrine/protocol/primitives'

/** Converts a path to a file system argument: the text itself, or its bytes if it represents some that are not UTF-8. */
export function toBytes(text: string): string | Buffer {
  return text.isWellFormed() ? text : Buffer.from(encodePathText(text).buffer)
}
