import type { WatchOptions } from '@vitrine/protocol'

export type WatchSettings = Required<WatchOptions>

export const defaultIgnore: readonly string[] = ['.git', 'node_modules']

/** Fills in the default options. */
export function watchSettings(options: WatchOptions = {}): WatchSettings {
  return {
    ignore: options.ignore ?? defaultIgnore,
    mode: options.mode ?? 'native',
    intervalMs: options.intervalMs ?? 1_000,
    maxEntries: options.maxEntries ?? 500_000,
    imageBytes: options.imageBytes ?? 1024 * 1024,
    imagesTotalBytes: options.imagesTotalBytes ?? 1024 * 1024 * 1024,
  }
}
