import { fileURLToPath } from 'node:url'
import type { BuiltinSource } from './entry.ts'

/** The file of an agent that is part of this package: of the source, or of the build that this file is in. */
export function builtinScript({ script }: BuiltinSource): string {
  const ending = import.meta.url.endsWith('.ts') ? 'ts' : 'js'
  return fileURLToPath(new URL(`../${script}.${ending}`, import.meta.url))
}
