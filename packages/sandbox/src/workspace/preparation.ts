import { existsSync } from 'node:fs'
import { relative } from 'node:path'
import { cancelled, removeFolder } from '@vitrine/archives'
import type { Journal, Store } from '@vitrine/journal'
import { isVitrineError, toVitrineError, VitrineError } from '@vitrine/protocol'
import type { Folders, SandboxSettings } from '../engine/settings.ts'
import { findSource } from './copy-in.ts'
import { emptyWorkspace, isEmpty } from './empty-workspace.ts'
import { invalid } from './invalid.ts'
import { checkAccountCapabilities, checkAccountSettings, hasAccounts } from './make-accounts.ts'
import { clearProgress, markAbandoned, markBegun, markDone, readProgress } from './marker.ts'
import type { WorkspacePlan } from './read-manifest.ts'
import { runSteps } from './run-steps.ts'
import { type PreparationTarget, stepsOf } from './steps.ts'

export interface PreparationOptions {
  readonly plan: WorkspacePlan
  readonly settings: SandboxSettings
  readonly store: Store
  readonly journal: Journal
  readonly signal?: AbortSignal | undefined
}

/** Applies a manifest to a sandbox: completely to a fresh one, and only its accounts at later starts. */
export class Preparation {
  readonly #plan: WorkspacePlan
  readonly #settings: SandboxSettings
  readonly #store: Store
  readonly #journal: Journal
  readonly #signal: AbortSignal
  /** Folders that do not exist yet, so that a rollback may remove them. */
  readonly #made: readonly string[]
  readonly #secrets: readonly (() => void)[]
  #fresh: boolean

  private constructor({ plan, settings, store, journal, signal }: PreparationOptions, fresh: boolean) {
    this.#plan = plan
    this.#settings = settings
    this.#store = store
    this.#journal = journal
    this.#signal = signal === undefined ? store.lost : AbortSignal.any([signal, store.lost])
    this.#made = settings.folders.own.filter((folder) => !existsSync(folder))
    this.#fresh = fresh
    this.#secrets = plan.git.flatMap(({ credentials }) =>
      credentials === undefined
        ? []
        : [store.addSecret('git-token', credentials.token, { sandbox: journal.id })],
    )
  }

  /** Checks everything that can be checked before the sandbox starts. */
  static async open(options: PreparationOptions): Promise<Preparation> {
    const { plan, settings, journal, signal } = options
    if (signal?.aborted) throw cancelled(signal)
    checkAccountSettings(plan, settings)
    const fresh = await isFresh(settings, journal)
    if (fresh) checkSources(plan, settings)
    return new Preparation(options, fresh)
  }

  /** Notes that a fresh workspace is being made, before anything of it exists. */
  begin(): void {
    if (this.#fresh) markBegun(this.#settings.folders)
  }

  /** Applies the manifest, as the last part of a start. */
  async run(target: Omit<PreparationTarget, 'journal'>): Promise<void> {
    checkAccountCapabilities(this.#plan, target.core.capabilities)
    if (!this.#fresh) {
      if (hasAccounts(this.#plan)) await this.#recreateAccounts(target)
      return
    }
    const { folders } = this.#settings
    const { turns } = target.core
    turns.isPreparing = true
    try {
      await this.#apply(this.#plan, target, this.#signal, { fresh: true })
      await target.core.files().flushWatcher()
    } finally {
      turns.isPreparing = false
    }
    markDone(folders)
    this.#fresh = false
  }

  /** Creates the accounts again: the root file system, and so the accounts, may have been discarded at the last stop. */
  async #recreateAccounts(target: Omit<PreparationTarget, 'journal'>): Promise<void> {
    const only = { ...this.#plan, directories: [], files: [], copy: [], git: [], setup: [] }
    try {
      await this.#apply(only, target, target.core.store.lost, { fresh: false })
    } catch (error) {
      // `setup_failed` means that the workspace was rolled back, which is not the case here.
      throw isVitrineError(error) && error.code === 'setup_failed'
        ? new VitrineError('sandbox_start_failed', error.message, { cause: error, details: error.details })
        : error
    }
  }

  #apply(
    plan: WorkspacePlan,
    target: Omit<PreparationTarget, 'journal'>,
    signal: AbortSignal,
    facts: Readonly<Record<string, unknown>>,
  ): Promise<void> {
    const journal = this.#journal
    const groups = stepsOf(plan, { ...target, journal })
    const env = Object.keys(plan.env)
    const about = { ...facts, steps: groups.flat().length, ...(env.length > 0 && { env }) }
    return journal.operate(
      'apply_manifest',
      about,
      (operation) => runSteps(groups, { operation, concurrency: plan.concurrency, signal }),
      { signal },
    )
  }

  /** Removes everything that a failed preparation created and returns the error to throw. No process may run. */
  async rollBack(error: unknown): Promise<unknown> {
    if (!this.#fresh) return error
    if (!(await this.#store.isOwned())) {
      // The next owner prepares the workspace again.
      markAbandoned(this.#settings.folders)
      return error
    }
    let undoStarted = false
    const undo = async () => {
      undoStarted = true
      const { folders } = this.#settings
      await emptyWorkspace(folders)
      for (const folder of [folders.staging, ...this.#made]) await removeFolder(folder)
      clearProgress(folders)
    }
    try {
      // Undo even if the journal does not accept the operation.
      await this.#journal
        .operate('undo_manifest', {}, undo)
        .catch((failure) => (undoStarted ? Promise.reject(failure) : undo()))
    } catch (failure) {
      const { code, message, details } = toVitrineError(error)
      const left = `${message}\nThe preparation could not be rolled back: ${toVitrineError(failure).message}`
      return new VitrineError(code, left, { cause: error, details })
    }
    return error
  }

  /** Unregisters the manifest's secrets from the store. */
  forgetSecrets(): void {
    for (const forget of this.#secrets) forget()
  }
}

/**
 * Whether the workspace still has to be prepared. A managed workspace that a dead host left half prepared is emptied:
 * no caller has ever received it.
 */
async function isFresh({ folders }: SandboxSettings, journal: Journal): Promise<boolean> {
  const progress = readProgress(folders)
  if (progress === 'done' && journal.head.seq > 0) return false
  if (progress === 'begun') throw notEmpty(folders, 'is already being prepared.')
  if (progress === 'abandoned' && folders.managed) await emptyWorkspace(folders)
  if (isEmpty(folders)) return true
  throw notEmpty(folders, 'is not empty.')
}

function notEmpty({ root }: Folders, how: string): VitrineError {
  return new VitrineError('workspace_not_empty', `The workspace ${root} ${how}`)
}

/** Rejects a source that contains the sandbox's own folders: it would be copied into itself without end. */
function checkSources({ copy }: WorkspacePlan, { folders }: SandboxSettings): void {
  for (const { field, source } of copy) {
    const { path, kind } = findSource(field, source)
    const ownFolder = [folders.root, folders.staging, ...folders.own].find((folder) => {
      const fromSource = relative(path, folder)
      return fromSource === '' || (fromSource !== '..' && !fromSource.startsWith('../'))
    })
    if (kind === 'directory' && ownFolder !== undefined)
      throw invalid(field, `${path} contains ${ownFolder}, which belongs to the sandbox.`)
  }
}
