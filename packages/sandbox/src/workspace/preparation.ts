import { existsSync } from 'node:fs'
import { relative } from 'node:path'
import type { Journal, Store } from '@vitrine/journal'
import { isVitrineError, toVitrineError, VitrineError } from '@vitrine/protocol'
import type { Folders, SandboxSettings } from '../engine/settings.ts'
import { cancelled } from '../files/time-slice.ts'
import { findSource } from './copy-in.ts'
import { emptyWorkspace, isEmpty, removeFolder } from './empty-workspace.ts'
import { invalid } from './invalid.ts'
import { hasAccounts, mustHaveAccounts, mustTakeAccounts } from './make-accounts.ts'
import { forgetProgress, noteBegun, noteDone, readProgress } from './marker.ts'
import type { Plan } from './read-manifest.ts'
import { runSteps } from './run-steps.ts'
import { type Ground, stepsOf } from './steps.ts'

export interface PreparationOptions {
  readonly plan: Plan
  readonly settings: SandboxSettings
  readonly store: Store
  readonly journal: Journal
  readonly signal?: AbortSignal | undefined
}

/** What a manifest does to one sandbox: all of it to a fresh one, and to its accounts at every start. */
export class Preparation {
  readonly #plan: Plan
  readonly #settings: SandboxSettings
  readonly #journal: Journal
  readonly #signal: AbortSignal
  /** Folders that are not there yet, and so are nobody else's. */
  readonly #made: readonly string[]
  readonly #secrets: readonly (() => void)[]
  #fresh: boolean

  private constructor({ plan, settings, store, journal, signal }: PreparationOptions, fresh: boolean) {
    this.#plan = plan
    this.#settings = settings
    this.#journal = journal
    this.#signal = signal === undefined ? store.lost : AbortSignal.any([signal, store.lost])
    this.#made = settings.folders.own.filter((folder) => !existsSync(folder))
    this.#fresh = fresh
    this.#secrets = plan.git.flatMap(({ credentials }) =>
      credentials === undefined ? [] : [store.addSecret('git-token', credentials.token)],
    )
  }

  /** Refuses what can be refused before anything is done. */
  static async open(options: PreparationOptions): Promise<Preparation> {
    const { plan, settings, journal, signal } = options
    if (signal?.aborted) throw cancelled(signal)
    mustTakeAccounts(plan, settings)
    const fresh = await isFresh(settings, journal)
    if (fresh) checkSources(plan, settings)
    return new Preparation(options, fresh)
  }

  /** The last part of a start. */
  async run(ground: Omit<Ground, 'journal'>): Promise<void> {
    mustHaveAccounts(this.#plan, ground.core.capabilities)
    if (!this.#fresh) {
      if (hasAccounts(this.#plan)) await this.#again(ground)
      return
    }
    const { folders } = this.#settings
    await this.#apply(this.#plan, ground, this.#signal, { fresh: true }, () => noteBegun(folders))
    noteDone(folders)
    this.#fresh = false
  }

  /** A system that was not kept has lost its accounts. */
  async #again(ground: Omit<Ground, 'journal'>): Promise<void> {
    const only = { ...this.#plan, directories: [], files: [], copy: [], git: [], setup: [] }
    try {
      await this.#apply(only, ground, ground.core.store.lost, { fresh: false })
    } catch (error) {
      // Nothing of the workspace is taken back.
      throw isVitrineError(error) && error.code === 'setup_failed'
        ? new VitrineError('sandbox_start_failed', error.message, { cause: error, details: error.details })
        : error
    }
  }

  #apply(
    plan: Plan,
    ground: Omit<Ground, 'journal'>,
    signal: AbortSignal,
    facts: Readonly<Record<string, unknown>>,
    begin: () => void = () => undefined,
  ): Promise<void> {
    const journal = this.#journal
    const groups = stepsOf(plan, { ...ground, journal })
    const env = Object.keys(plan.env)
    const about = { ...facts, steps: groups.flat().length, ...(env.length > 0 && { env }) }
    return journal.operate(
      'apply_manifest',
      about,
      (operation) => {
        begin()
        return runSteps(groups, { operation, concurrency: plan.concurrency, signal })
      },
      { signal },
    )
  }

  /** Leaves nothing of a preparation that failed, and gives back the error to throw. Nothing runs any more. */
  async takeBack(error: unknown): Promise<unknown> {
    if (!this.#fresh) return error
    let begun = false
    const undo = async () => {
      begun = true
      const { folders } = this.#settings
      await emptyWorkspace(folders)
      for (const folder of [folders.staging, ...this.#made]) await removeFolder(folder)
      forgetProgress(folders)
    }
    try {
      // Also where the journal takes nothing any more.
      await this.#journal
        .operate('undo_manifest', {}, undo)
        .catch((failure) => (begun ? Promise.reject(failure) : undo()))
    } catch (failure) {
      const { code, message, details } = toVitrineError(error)
      const left = `${message}\nWhat was prepared could not be taken back: ${toVitrineError(failure).message}`
      return new VitrineError(code, left, { cause: error, details })
    }
    return error
  }

  /** From now on its secrets are not looked for any more. */
  close(): void {
    for (const forget of this.#secrets) forget()
  }
}

/**
 * A sandbox that goes on was prepared before, unless that failed. What a host that died left in a folder of our own was
 * never handed to anybody, and goes.
 */
async function isFresh({ folders }: SandboxSettings, journal: Journal): Promise<boolean> {
  const progress = readProgress(folders)
  if (progress === 'done' && journal.head.seq > 0) return false
  if (progress === 'begun') throw notEmpty(folders, 'is being prepared at this moment.')
  if (progress === 'abandoned' && folders.managed) await emptyWorkspace(folders)
  if (isEmpty(folders)) return true
  throw notEmpty(folders, 'is not empty.')
}

function notEmpty({ root }: Folders, how: string): VitrineError {
  return new VitrineError('workspace_not_empty', `The workspace ${root} ${how}`)
}

/** A copy of the folder that it is copied to would never end. */
function checkSources({ copy: local }: Plan, { folders }: SandboxSettings): void {
  for (const { where, source } of local) {
    const { path, kind } = findSource(where, source)
    const inside = [folders.root, folders.staging, ...folders.own].find((folder) => {
      const way = relative(path, folder)
      return way === '' || (way !== '..' && !way.startsWith('../'))
    })
    if (kind === 'directory' && inside !== undefined)
      throw invalid(where, `${path} holds ${inside}, which belongs to the sandbox.`)
  }
}
