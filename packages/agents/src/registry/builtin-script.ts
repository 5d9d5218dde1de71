import { fileURLToPath } from 'node:url'
import type { BuiltinSource } from './entry.ts'

/** Path of the script of a built-in agent, in the source tree or in the build, whichever this file is part of. */
export function builtinScript({ script }: BuiltinSource): string {
  const extension = import.meta.url.endsWith('.ts') ? 'ts' : 'js'
  return fileURLToPath(new URL(`../${script}.${extension}`, import.meta.url))
}
