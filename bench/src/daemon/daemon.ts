import { existsSync, mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Contestant, freePort, startContestant } from './contestant.ts'

const built = fileURLToPath(new URL('../../../packages/cli/dist/main.js', import.meta.url))
const source = fileURLToPath(new URL('../../../packages/cli/src/main.ts', import.meta.url))
const asSource = ['--conditions=source', '--disable-warning=ExperimentalWarning', source]

export const token = 'a-token-for-benchmarks'

/** What is measured: the build, as users have it. */
export const isBuilt = existsSync(built)
export const howRun = isBuilt ? 'as built' : 'from its sources: run "npm run build" first'

/** `vitrine serve` on a folder that holds its data and its workspace. */
export function serveCommand(folder: string, port: number): string[] {
  const [data, root] = [dataOf(folder), rootOf(folder)]
  for (const path of [data, root]) mkdirSync(path, { recursive: true })
  const place = ['--port', String(port), '--data', data, '--root', root]
  return [
    process.execPath,
    ...(isBuilt ? [...builtFlags(), built] : asSource),
    ...['serve', ...place, '--token', token, '--isolation', 'none'],
  ]
}

/** With which the installed command starts Node; here it is started on the Node of the measurement. */
function builtFlags(): string[] {
  const [, flags] = /^#!.*\n.*exec node (.*) "\$0" "\$@"\n/.exec(readFileSync(built, 'utf8')) ?? []
  if (flags === undefined) throw new Error(`${built} does not start Node by itself.`)
  return flags.split(' ')
}

/** The daemon in a process of its own; ready once it has noted down where it is. */
export async function startDaemon(folder: string): Promise<Contestant> {
  const port = await freePort()
  return startContestant(serveCommand(folder, port), { port, isReady: () => isNoted(folder, port) })
}

/** The workspace of its default sandbox. */
export function rootOf(folder: string): string {
  return join(folder, 'workspace')
}

function dataOf(folder: string): string {
  return join(folder, 'data')
}

function isNoted(folder: string, port: number): boolean {
  try {
    return JSON.parse(readFileSync(join(dataOf(folder), 'daemon.json'), 'utf8')).url.endsWith(`:${port}`)
  } catch {
    return false
  }
}
