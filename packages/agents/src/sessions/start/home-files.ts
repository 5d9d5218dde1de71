import { dirname, join } from 'node:path'
import { VitrineError } from '@vitrine/protocol'
import type { LocalSandbox } from '@vitrine/sandbox'

/** Number of running agents that need a file of HOME, by its path. */
const users = new WeakMap<LocalSandbox, Map<string, number>>()

/**
 * Writes files into the sandbox's HOME for an agent: with a command in the sandbox, so that the agent's user owns them,
 * and by renaming over the target, so that no link is followed. Returns a function that removes them; a file is removed
 * when the last agent that needs it has ended, so that the next session does not get the credentials of this one.
 */
export async function putInHome(
  sandbox: LocalSandbox,
  files: Readonly<Record<string, string>>,
): Promise<() => Promise<void>> {
  const paths = Object.keys(files)
  const counts = users.get(sandbox) ?? new Map<string, number>()
  users.set(sandbox, counts)
  for (const path of paths) counts.set(path, (counts.get(path) ?? 0) + 1)
  const removeFiles = async () => {
    const unused = paths.filter((path) => {
      const remaining = (counts.get(path) ?? 1) - 1
      if (remaining > 0) counts.set(path, remaining)
      else counts.delete(path)
      return remaining === 0
    })
    if (unused.length === 0) return
    await sandbox.execUnchecked(['rm', '-f', '--', ...unused.map((path) => join(sandbox.home, path))])
  }
  try {
    for (const [path, content] of Object.entries(files)) await put(sandbox, join(sandbox.home, path), content)
  } catch (error) {
    await removeFiles().catch(() => undefined)
    throw error
  }
  return removeFiles
}

const script =
  'umask 077 && mkdir -p "$1" && draft=$(mktemp "$1/.vitrine.XXXXXX") && cat > "$draft" && mv -fT "$draft" "$2"'

async function put(sandbox: LocalSandbox, target: string, content: string): Promise<void> {
  const command = ['sh', '-c', script, 'sh', dirname(target), target]
  const { exitCode, stderr } = await sandbox.execUnchecked(command, { stdin: content })
  if (exitCode !== 0)
    throw new VitrineError('file_failed', `${target} could not be written: ${stderr.trim()}`)
}
