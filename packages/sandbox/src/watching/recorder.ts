import { toBytes } from '@vitrine/archives'
import type { Journal, PreparedBlob, Store } from '@vitrine/journal'
import { type EventContext, type EventInput, isVitrineError } from '@vitrine/protocol'
import { withoutOperation } from '../without-operation.ts'
import type { Change } from './change.ts'
import type { PrivatePaths } from './private-paths.ts'

const batchEvents = 256
const batchBytes = 8 * 1024 * 1024
const retryMs = 200

export interface RecorderOptions {
  readonly journal: Journal
  readonly store: Store
  readonly imagesTotalBytes: number
  readonly privatePaths?: PrivatePaths
  readonly signal: AbortSignal
  /** The context for the events of the next commit. */
  context?(): EventContext
  /** Whether the manifest makes the changes that are committed next. */
  isPreparing?(): boolean
}

/** A change that is not committed yet, with its prepared blob. */
interface PendingChange {
  change: Change
  blob: PreparedBlob | undefined
}

/** Appends changes to the journal in order, together with the blobs of the files' contents. */
export class ChangeRecorder {
  readonly #options: RecorderOptions
  #pending: PendingChange[] = []
  /** The last pending change of each path. */
  #last = new Map<string, PendingChange>()
  #bytes = 0
  #stored = 0
  #full: 'now' | 'said' | undefined

  constructor(options: RecorderOptions) {
    this.#options = options
  }

  /** Adds a change. Returns a promise to wait for if the batch is full. */
  add(change: Change): Promise<void> | undefined {
    if (this.#options.privatePaths?.takes(change)) return undefined
    const blob = change.content && this.#prepareImage(change, change.content)
    const earlier = this.#last.get(change.path)
    // Consecutive changes of a path that are not committed yet become one event.
    if (change.type === 'changed' && earlier !== undefined && isContentChange(earlier.change)) {
      const { type, before, after } = earlier.change
      // If only permissions changed since, the blob of the earlier change is still the content.
      earlier.blob = change.after === after ? (blob ?? earlier.blob) : blob
      earlier.change = { ...change, type, ...(before ? { before } : { before: undefined }) }
    } else {
      const pending = { change, blob }
      this.#pending.push(pending)
      this.#last.set(change.path, pending)
      if (change.previousPath !== undefined) this.#last.delete(change.previousPath)
    }
    this.#bytes += change.content?.byteLength ?? 0
    return this.#pending.length >= batchEvents || this.#bytes >= batchBytes ? this.flush() : undefined
  }

  /** Commits the pending changes. */
  async flush(): Promise<void> {
    const pending = this.#pending
    if (pending.length === 0) return
    this.#pending = []
    this.#last = new Map()
    this.#bytes = 0
    const blobs = pending.flatMap(({ blob }) => blob ?? [])
    const context = this.#options.context?.()
    const facts = this.#options.isPreparing?.() ? { by: 'manifest' } : {}
    const events = pending.map(({ change }) => ({ ...context, ...eventOf(change, facts) }))
    await this.#append(events, blobs)
    if (this.#full === 'now') await this.#reportFull()
  }

  #prepareImage({ after = {} }: Change, content: Uint8Array): PreparedBlob | undefined {
    const { store, imagesTotalBytes } = this.#options
    if (this.#stored + content.byteLength > imagesTotalBytes) {
      this.#full ??= 'now'
      after.omitted = 'budget'
      return undefined
    }
    try {
      const prepared = store.prepareBlob(content)
      this.#stored += content.byteLength
      const { blob, redacted } = prepared.ref
      Object.assign(after, { hash: blob, redacted: redacted === true })
      return prepared
    } catch (error) {
      if (!isVitrineError(error) || !error.code.startsWith('blob_')) throw error
      after.omitted = 'budget'
      return undefined
    }
  }

  async #reportFull(): Promise<void> {
    this.#full = 'said'
    const data = { limit: 'watch.imagesTotalBytes', max: this.#options.imagesTotalBytes }
    await this.#append([{ type: 'limit.reached', data }], [])
  }

  /** Retries while the journal cannot be written, since the changes have already happened. */
  async #append(events: readonly EventInput[], blobs: readonly PreparedBlob[]): Promise<void> {
    const { journal, signal } = this.#options
    for (;;) {
      try {
        // A change must not be attributed to the operation that happened to trigger the check.
        await withoutOperation(() => journal.append(events, { blobs }))
        return
      } catch (error) {
        if (signal.aborted || !isVitrineError(error) || error.retryable !== true) throw error
        await new Promise((resolve) => setTimeout(resolve, retryMs))
      }
    }
  }
}

function isContentChange({ type }: Change): boolean {
  return type === 'created' || type === 'changed'
}

function eventOf(change: Change, facts: { readonly by?: string }): EventInput {
  const { type, kind, size, before, after } = change
  const known = before?.hash
  return {
    type: `file.${type}`,
    data: {
      ...pathFields('path', change.path),
      kind,
      ...(size !== undefined && { size }),
      ...(change.previousPath !== undefined && pathFields('previousPath', change.previousPath)),
      ...(known !== undefined && { before: known }),
      ...(before !== undefined && known === undefined && { beforeUnknown: true }),
      ...(after?.hash !== undefined && { after: after.hash }),
      ...(after?.omitted !== undefined && { afterOmitted: after.omitted }),
      ...((before?.redacted === true || after?.redacted === true) && { redacted: true }),
      ...facts,
    },
  }
}

function pathFields(key: string, path: string): Record<string, string> {
  const exact = toBytes(path)
  if (typeof exact === 'string') return { [key]: path }
  return { [key]: exact.toString('utf8'), [`${key}Base64`]: exact.toString('base64') }
}
