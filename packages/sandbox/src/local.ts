import type { LocalOptions } from './engine/settings.ts'

/** Sandboxes on this machine. */
export interface LocalProvider {
  readonly name: 'local'
  readonly options: LocalOptions
}

/**
 * @example
 * const sandbox = await createSandbox({ provider: local({ isolation: 'auto' }) })
 */
export function local(options: LocalOptions = {}): LocalProvider {
  return { name: 'local', options }
}
