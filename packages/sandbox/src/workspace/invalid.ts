import { VitrineError } from '@vitrine/protocol'

/** Where something stands in the manifest, for whoever has to correct it. */
export type Where = string

export function invalid(where: Where, reason: string): VitrineError {
  return new VitrineError('argument_invalid', `${where}: ${reason}`, { details: { path: where } })
}
