import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { firstChoices, isChoice, isMode, isValueOf } from './options.ts'
import { type KeptSession, toKept } from './session.ts'

/** Where sessions outlive the process. A shelf that cannot be written keeps nothing and does not complain. */
export interface Shelf {
  put(session: KeptSession): void
  get(id: string): KeptSession | undefined
  all(): KeptSession[]
}

export function openShelf(home: string | undefined): Shelf {
  if (home === undefined) return { put: () => {}, get: () => undefined, all: () => [] }
  const folder = join(home, '.vitrine-demo', 'sessions')
  const get = (id: string) => (/^demo-[0-9a-f-]+$/.test(id) ? read(join(folder, `${id}.json`)) : undefined)
  return {
    get,
    put(session) {
      const draft = join(folder, `${session.id}.${process.pid}.draft`)
      try {
        makeFolder(join(home, '.vitrine-demo'))
        makeFolder(folder)
        writeFileSync(draft, JSON.stringify(toKept(session)), { mode: 0o600 })
        renameSync(draft, join(folder, `${session.id}.json`))
      } catch {
        rmSync(draft, { force: true })
      }
    },
    all() {
      return names(folder).flatMap((name) => {
        const session = name.endsWith('.json') ? get(name.slice(0, -'.json'.length)) : undefined
        return session === undefined ? [] : [session]
      })
    },
  }
}

/** One at a time: Node's recursive form never returns for a home below /proc. */
function makeFolder(path: string): void {
  if (!existsSync(path)) mkdirSync(path)
}

function names(folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch {
    return []
  }
}

function read(path: string): KeptSession | undefined {
  try {
    return checked(JSON.parse(readFileSync(path, 'utf8')))
  } catch {
    return undefined
  }
}

/** Our own file: the fields that decide something are looked at, the history is believed. */
function checked(value: Partial<KeptSession>): KeptSession | undefined {
  const { id, cwd, mode, choices, title, updatedAt, tokens, history } = value
  if (typeof id !== 'string' || typeof cwd !== 'string' || !Array.isArray(history)) return undefined
  return {
    id,
    cwd,
    mode: typeof mode === 'string' && isMode(mode) ? mode : 'ask',
    choices: {
      ...firstChoices,
      ...Object.fromEntries(
        Object.entries(choices ?? {}).filter(([key, one]) => isChoice(key) && isValueOf(key, one)),
      ),
    },
    title: typeof title === 'string' ? title : undefined,
    updatedAt: typeof updatedAt === 'string' ? updatedAt : new Date(0).toISOString(),
    tokens: typeof tokens === 'number' ? tokens : 0,
    history,
  }
}
