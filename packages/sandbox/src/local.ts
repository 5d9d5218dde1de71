import type { EngineProvider, LocalOptions } from '@vitrine/protocol'
import { checkOptions, localOptions } from '@vitrine/protocol/options'

/** Sandboxes on this machine. */
export type LocalProvider = EngineProvider

/**
 * @example
 * const sandbox = await createSandbox({ provider: local({ isolation: 'auto' }) })
 */
export function local(options: LocalOptions = {}): LocalProvider {
  checkOptions('local', localOptions.local, options)
  return { name: 'local', options }
}
