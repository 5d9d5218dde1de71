import { existsSync, realpathSync } from 'node:fs'
import { join } from 'node:path'
import { VitrineError } from '@vitrine/protocol'

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

interface BindSource {
  readonly source: string
}

/**
 * Throws if a bind would show a sandbox the keys, the records, the journals or another sandbox of its host.
 *
 * @example
 * assertBindsAllowed('/var/lib/vitrine', [{ source: '/opt/models' }])
 */
export function assertBindsAllowed(data: string, binds: readonly BindSource[]): void {
  for (const { source } of binds) if (existsSync(source)) assertAllowed(data, source, realpathSync(source))
}

/** The same before each start, for sources without symbolic links: a folder may have become a link since. */
export function assertBindsUnchanged(data: string, binds: readonly BindSource[]): void {
  for (const { source } of binds) {
    if (!existsSync(source)) throw invalid(source, 'does not exist on the host any more.')
    const path = realpathSync(source)
    assertAllowed(data, source, path)
    if (path !== source) throw invalid(source, `leads to ${path} now; attach the sandbox again to bind that.`)
  }
}

function assertAllowed(data: string, source: string, path: string): void {
  if (isInside(data, path) || hidden.some((name) => isInside(path, join(data, name))))
    throw invalid(
      source,
      `shows parts of the data directory ${data} that a sandbox must not see; choose another path.`,
    )
}

function invalid(source: string, problem: string): VitrineError {
  return new VitrineError('argument_invalid', `binds.source: ${source} ${problem}`)
}

function isInside(path: string, directory: string): boolean {
  return `${path}/`.startsWith(directory === '/' ? '/' : `${directory}/`)
}
