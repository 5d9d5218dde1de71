import { countIn, type Fields, fieldsIn, textIn } from '../fields.ts'
import { sizeText } from './size.ts'

/** A string, or a note about the blob that stores it. */
export function longTextIn(data: Fields, key: string): string | undefined {
  const text = textIn(data, key)
  if (text !== undefined) return text
  const bytes = countIn(fieldsIn(data, key), 'bytes')
  return bytes === undefined ? undefined : `(${sizeText(bytes)} in a blob)`
}
