import { homedir } from 'node:os'
import { join, resolve } from 'node:path'

/** Where a host keeps everything, by the same rule as the host's own; nothing is made or opened. */
export function dataFolder(given: string | undefined): string {
  if (given !== undefined) return resolve(given)
  if (process.getuid?.() === 0) return '/var/lib/vitrine'
  return join(process.env.XDG_DATA_HOME ?? join(homedir(), '.local', 'share'), 'vitrine')
}
