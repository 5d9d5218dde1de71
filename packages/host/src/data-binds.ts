import { existsSync, realpathSync } from 'node:fs'
import { join } from 'node:path'
import { VitrineError } from '@vitrine/protocol'
import type { LocalOptions } from '@vitrine/sandbox'

/** The parts of a data directory that no sandbox may see. Installed agents and folders of the caller are others. */
const hidden = [
  'keys',
  'secrets.jsonl',
  'store',
  'records',
  'sandboxes',
  'token',
  'daemon.json',
  'agents.json',
]

/** Throws if a bind would show a sandbox the keys, the records, the journals or another sandbox of its host. */
export function assertBindsAllowed(data: string, { binds = [] }: Omit<LocalOptions, 'data'>): void {
  for (const { source } of binds) {
    if (!existsSync(source)) continue
    const path = realpathSync(source)
    if (isInside(data, path) || hidden.some((name) => isInside(path, join(data, name))))
      throw new VitrineError(
        'argument_invalid',
        `binds.source: ${source} shows parts of the data directory ${data} that a sandbox must not see; choose another path.`,
      )
  }
}

function isInside(path: string, directory: string): boolean {
  return `${path}/`.startsWith(directory === '/' ? '/' : `${directory}/`)
}
