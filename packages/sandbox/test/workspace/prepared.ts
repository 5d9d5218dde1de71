import { spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { memoryStore, openStore, type Store } from '@vitrine/journal'
import type { WorkspaceManifest } from '@vitrine/protocol'
import { isGap, type JournalEvent, newId } from '@vitrine/protocol'
import { onTestFinished } from 'vitest'
import {
  type CommandPolicy,
  createLocalSandbox,
  type LocalOptions,
  type LocalSandbox,
  local,
} from '../../src/index.ts'

export interface PreparedOptions extends LocalOptions {
  readonly id?: string
  readonly store?: Store
  readonly policy?: CommandPolicy
  readonly signal?: AbortSignal
}

export const isRoot = process.getuid?.() === 0
export const hasBubblewrap = spawnSync('bwrap', ['--version']).status === 0
if (!hasBubblewrap) console.warn('SKIPPED: nothing is prepared under isolation: there is no bwrap.')

export const isolations = hasBubblewrap ? (['none', 'bubblewrap'] as const) : (['none'] as const)

/** A folder that is removed after the test. Not below /tmp, since a sandbox has its own /tmp. */
export function folder(): string {
  const path = mkdtempSync(join('/var/tmp', 'vitrine-test-'))
  onTestFinished(() => rmSync(path, { recursive: true, force: true }))
  return path
}

/** A data folder to prepare sandboxes in, with access to everything that they leave. */
export async function openScene() {
  const data = folder()
  const store = await openStore(memoryStore())
  const id = newId('sandbox')
  onTestFinished(() => store.close())
  const events = async (journal = id): Promise<readonly JournalEvent[]> =>
    (await (await store.journal(journal)).read({ limit: 10_000 })).events.filter(
      (event): event is JournalEvent => !isGap(event),
    )
  return {
    data,
    store,
    id,
    events,
    prepare: (workspace: WorkspaceManifest, asked: PreparedOptions = {}) =>
      prepare(workspace, { data, store, id, ...asked }),
    /** Files of the sandbox on disk. */
    left: () => readdirSync(join(data, 'sandboxes'), { recursive: true }),
    /** The recorded steps: `3 started`. */
    steps: async () => (await progress(events)).map(({ step, state }) => `${step} ${state}`),
    progress: () => progress(events),
  }
}

interface Progress {
  readonly step: number
  readonly name: string
  readonly state: string
  readonly done: number
  readonly total: number
  readonly exitCode?: number | null
  readonly outcome?: string
}

async function progress(events: () => Promise<readonly JournalEvent[]>): Promise<Progress[]> {
  const said = (await events()).filter(
    ({ type, data }) => type === 'operation.progress' && data.op === 'apply_manifest',
  )
  return said.map(({ data }) => data as unknown as Progress)
}

export async function prepare(
  workspace: WorkspaceManifest,
  { id, store, policy, signal, ...options }: PreparedOptions = {},
): Promise<LocalSandbox> {
  const asked = {
    provider: local({ data: options.data ?? folder(), ...options }),
    workspace,
    ...(id !== undefined && { id }),
    ...(store && { store }),
    ...(policy && { policy }),
    ...(signal && { signal }),
  }
  const sandbox = await createLocalSandbox(asked)
  onTestFinished(() => sandbox.close())
  return sandbox
}

/** Running processes of the host with that word in their arguments. */
export function processesWith(word: string): number[] {
  return readdirSync('/proc').flatMap((pid) => {
    if (!/^\d+$/.test(pid) || Number(pid) === process.pid) return []
    try {
      return readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(word) ? [Number(pid)] : []
    } catch {
      return []
    }
  })
}

/** The output of a command in the workspace. */
export async function say(sandbox: LocalSandbox, command: string, user?: string): Promise<string> {
  return (await sandbox.exec(command, { ...(user !== undefined && { user }) })).stdout.trim()
}
