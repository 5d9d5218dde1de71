import { dirname, join } from 'node:path'
import { VitrineError } from '@vitrine/protocol'
import type { LocalSandbox } from '@vitrine/sandbox'

/** How many agents that run need a file of HOME, by its path. */
const users = new WeakMap<LocalSandbox, Map<string, number>>()

/**
 * Puts files into the sandbox's HOME for an agent: by a command of the sandbox, so that they belong to whoever the
 * agent runs as, and in place of whatever is there, so that no link is followed. Returns how to take them away again,
 * which the last agent that needs one does: what was granted to one session is not there for the next.
 */
export async function putInHome(
  sandbox: LocalSandbox,
  files: Readonly<Record<string, string>>,
): Promise<() => Promise<void>> {
  const paths = Object.keys(files)
  const counted = users.get(sandbox) ?? new Map<string, number>()
  users.set(sandbox, counted)
  for (const path of paths) counted.set(path, (counted.get(path) ?? 0) + 1)
  const takeAway = async () => {
    const unused = paths.filter((path) => {
      const left = (counted.get(path) ?? 1) - 1
      if (left > 0) counted.set(path, left)
      else counted.delete(path)
      return left === 0
    })
    if (unused.length === 0) return
    await sandbox.execUnchecked(['rm', '-f', '--', ...unused.map((path) => join(sandbox.home, path))])
  }
  try {
    for (const [path, content] of Object.entries(files)) await put(sandbox, join(sandbox.home, path), content)
  } catch (error) {
    await takeAway().catch(() => undefined)
    throw error
  }
  return takeAway
}

const script =
  'umask 077 && mkdir -p "$1" && draft=$(mktemp "$1/.vitrine.XXXXXX") && cat > "$draft" && mv -fT "$draft" "$2"'

async function put(sandbox: LocalSandbox, target: string, content: string): Promise<void> {
  const command = ['sh', '-c', script, 'sh', dirname(target), target]
  const { exitCode, stderr } = await sandbox.execUnchecked(command, { stdin: content })
  if (exitCode !== 0)
    throw new VitrineError('file_failed', `${target} could not be written: ${stderr.trim()}`)
}
