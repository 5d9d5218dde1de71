import { VitrineError } from '@vitrine/protocol'

/** The path of a field in the manifest, for error messages. */
export type FieldPath = string

export function invalid(field: FieldPath, reason: string): VitrineError {
  return new VitrineError('argument_invalid', `${field}: ${reason}`, { details: { path: field } })
}
