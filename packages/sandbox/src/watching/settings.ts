import { VitrineError } from '@vitrine/protocol'

/** How changes in the workspace become events. */
export interface WatchOptions {
  /** Names, or paths from the root, that are not looked into: patterns with `*`. Default `.git` and `node_modules`. */
  readonly ignore?: readonly string[]
  /**
   * `native` (default): the kernel tells. `poll`: it is looked at every so often, for file systems that do not tell.
   * `find`: the same by commands inside, for machines where nothing else can be done.
   */
  readonly mode?: 'native' | 'poll' | 'find'
  /** Between two looks when polling; default 1,000. */
  readonly intervalMs?: number
  /** Entries that are followed; what is beyond is named in `watch.degraded`. Default 500,000. */
  readonly maxEntries?: number
  /** Of one file whose content is kept after a change; default 1 MiB. 0 keeps none. */
  readonly imageBytes?: number
  /** Of all such contents in one life of the sandbox; default 1 GiB. */
  readonly imagesTotalBytes?: number
}

export type WatchSettings = Required<WatchOptions>

export const defaultIgnore: readonly string[] = ['.git', 'node_modules']

export function watchSettings(options: WatchOptions = {}): WatchSettings {
  const settings: WatchSettings = {
    ignore: options.ignore ?? defaultIgnore,
    mode: options.mode ?? 'native',
    intervalMs: options.intervalMs ?? 1_000,
    maxEntries: options.maxEntries ?? 500_000,
    imageBytes: options.imageBytes ?? 1024 * 1024,
    imagesTotalBytes: options.imagesTotalBytes ?? 1024 * 1024 * 1024,
  }
  if (!['native', 'poll', 'find'].includes(settings.mode))
    throw invalid(`mode: expected native, poll or find, got ${JSON.stringify(settings.mode)}`)
  if (!settings.ignore.every((pattern) => typeof pattern === 'string' && pattern !== ''))
    throw invalid('ignore: expected a list of names')
  for (const name of ['intervalMs', 'maxEntries', 'imageBytes', 'imagesTotalBytes'] as const) {
    const least = name.startsWith('image') ? 0 : 1
    if (!(Number.isSafeInteger(settings[name]) && settings[name] >= least))
      throw invalid(`${name}: expected a whole number from ${least}, got ${settings[name]}`)
  }
  return settings
}

function invalid(message: string): VitrineError {
  return new VitrineError('argument_invalid', `watch.${message}.`)
}
