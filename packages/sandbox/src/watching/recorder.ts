import type { Journal, PreparedBlob, Store } from '@vitrine/journal'
import { type EventContext, type EventInput, isVitrineError } from '@vitrine/protocol'
import { toBytes } from '../files/exact-text.ts'
import { withoutOperation } from '../without-operation.ts'
import type { Change } from './change.ts'

const batchEvents = 256
const batchBytes = 8 * 1024 * 1024
const retryMs = 200

export interface RecorderOptions {
  readonly journal: Journal
  readonly store: Store
  readonly imagesTotalBytes: number
  readonly signal: AbortSignal
  /** What a change belongs to that is told now. */
  context?(): EventContext
}

/** One that waits to be written, with its content ready. */
interface PendingChange {
  change: Change
  kept: PreparedBlob | undefined
}

/** Writes changes into the journal, in their order, with what is kept of the files. */
export class ChangeRecorder {
  readonly #options: RecorderOptions
  #waiting: PendingChange[] = []
  /** What waits last about each path. */
  #last = new Map<string, PendingChange>()
  #bytes = 0
  #stored = 0
  #full: 'now' | 'said' | undefined

  constructor(options: RecorderOptions) {
    this.#options = options
  }

  /** Takes one; waits while there is much to write. */
  tell(change: Change): Promise<void> | undefined {
    const kept = change.content && this.#keep(change, change.content)
    const earlier = this.#last.get(change.path)
    // Changes that follow each other before the first is written are one.
    if (change.type === 'changed' && earlier !== undefined && isWriting(earlier.change)) {
      const { type, before, after } = earlier.change
      // What was to be kept is still to be kept where only rights have changed since.
      earlier.kept = change.after === after ? (kept ?? earlier.kept) : kept
      earlier.change = { ...change, type, ...(before ? { before } : { before: undefined }) }
    } else {
      const waiting = { change, kept }
      this.#waiting.push(waiting)
      this.#last.set(change.path, waiting)
      if (change.previousPath !== undefined) this.#last.delete(change.previousPath)
    }
    this.#bytes += change.content?.byteLength ?? 0
    return this.#waiting.length >= batchEvents || this.#bytes >= batchBytes ? this.flush() : undefined
  }

  /** Once everything told is committed. */
  async flush(): Promise<void> {
    const waiting = this.#waiting
    if (waiting.length === 0) return
    this.#waiting = []
    this.#last = new Map()
    this.#bytes = 0
    const blobs = waiting.flatMap(({ kept }) => kept ?? [])
    const context = this.#options.context?.()
    const events = waiting.map(({ change }) => ({ ...context, ...eventOf(change) }))
    await this.#append(events, blobs)
    if (this.#full === 'now') await this.#sayFull()
  }

  #keep({ after = {} }: Change, content: Uint8Array): PreparedBlob | undefined {
    const { store, imagesTotalBytes } = this.#options
    if (this.#stored + content.byteLength > imagesTotalBytes) {
      this.#full ??= 'now'
      after.unkept = 'budget'
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
      after.unkept = 'budget'
      return undefined
    }
  }

  async #sayFull(): Promise<void> {
    this.#full = 'said'
    const data = { limit: 'watch.imagesTotalBytes', max: this.#options.imagesTotalBytes }
    await this.#append([{ type: 'limit.reached', data }], [])
  }

  /** What has happened is not given up because it cannot be written now. */
  async #append(events: readonly EventInput[], blobs: readonly PreparedBlob[]): Promise<void> {
    const { journal, signal } = this.#options
    for (;;) {
      try {
        // A change belongs to whoever made it, not to whoever asked whether there was one.
        await withoutOperation(() => journal.append(events, { blobs }))
        return
      } catch (error) {
        if (signal.aborted || !isVitrineError(error) || error.retryable !== true) throw error
        await new Promise((resolve) => setTimeout(resolve, retryMs))
      }
    }
  }
}

function isWriting({ type }: Change): boolean {
  return type === 'created' || type === 'changed'
}

function eventOf(change: Change): EventInput {
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
      ...(after?.unkept !== undefined && { afterOmitted: after.unkept }),
      ...((before?.redacted === true || after?.redacted === true) && { redacted: true }),
    },
  }
}

function pathFields(key: string, path: string): Record<string, string> {
  const exact = toBytes(path)
  if (typeof exact === 'string') return { [key]: path }
  return { [key]: exact.toString('utf8'), [`${key}Base64`]: exact.toString('base64') }
}
