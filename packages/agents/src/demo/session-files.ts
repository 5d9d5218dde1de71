import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { firstChoices, isChoice, isMode, isValueOf } from './options.ts'
import { type StoredSession, toStored } from './session.ts'

/** Stores sessions on disk. A session that cannot be written is not stored; that is no error. */
export interface SessionFiles {
  put(session: StoredSession): void
  get(id: string): StoredSession | undefined
  all(): StoredSession[]
}

export function openSessionFiles(home: string | undefined): SessionFiles {
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
        writeFileSync(draft, JSON.stringify(toStored(session)), { mode: 0o600 })
        renameSync(draft, join(folder, `${session.id}.json`))
      } catch {
        removeDraft(draft)
      }
    },
    all() {
      return listNames(folder).flatMap((name) => {
        const session = name.endsWith('.json') ? get(name.slice(0, -'.json'.length)) : undefined
        return session === undefined ? [] : [session]
      })
    },
  }
}

/** Creates one folder, because Node's recursive mkdir never returns for a path below /proc. */
function makeFolder(path: string): void {
  if (!existsSync(path)) mkdirSync(path)
}

function removeDraft(path: string): void {
  try {
    rmSync(path, { force: true })
  } catch {
    // HOME is not a directory, so there is no draft.
  }
}

function listNames(folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch {
    return []
  }
}

function read(path: string): StoredSession | undefined {
  try {
    return parseStored(JSON.parse(readFileSync(path, 'utf8')))
  } catch {
    return undefined
  }
}

/** Checks the fields of a stored session, except for the history, which the agent wrote itself. */
function parseStored(value: Partial<StoredSession>): StoredSession | undefined {
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
