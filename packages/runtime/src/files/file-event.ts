import { text } from 'node:stream/consumers'
import type { JournalEvent, JournalReader, KnownEvent } from '@vitrine/protocol'
import { diffText, unifiedDiff } from '@vitrine/views'

/** A change of a file as the journal has it. */
export type FileChanged = Extract<KnownEvent, { readonly type: FileEventType }>

type FileEventType = 'file.created' | 'file.changed' | 'file.deleted' | 'file.moved'

const types = {
  'file.created': 'create',
  'file.changed': 'change',
  'file.deleted': 'delete',
  'file.moved': 'move',
} as const

/** A change of a file as hooks and `watchWorkspace` get it. Contents are read from the journal, and only when they are asked for. */
export interface SandboxFileEvent {
  readonly type: (typeof types)[FileEventType]
  /** From the root of the workspace. */
  readonly path: string
  /** The path before a move. */
  readonly previousPath?: string
  readonly kind: 'file' | 'directory' | 'symlink' | 'other'
  readonly size?: number
  /** When it was recorded, in milliseconds since 1970. */
  readonly timestamp: number
  /** Its place in the journal. */
  readonly seq: number
  /** The content before the change; undefined if there was none, or if it is not stored. */
  before(): Promise<string | undefined>
  /** The content after the change; undefined if there is none, or if it is not stored. */
  after(): Promise<string | undefined>
  /** The change as a unified diff; undefined if a content that it needs is not stored. */
  diff(): Promise<string | undefined>
}

export function isFileChanged(event: JournalEvent): event is FileChanged {
  return Object.hasOwn(types, event.type)
}

/** The journal is that which has the event: it stores the contents too. */
export function fileEvent(event: FileChanged, journal: Pick<JournalReader, 'blob'>): SandboxFileEvent {
  const { seq, time, data } = event
  const { path, previousPath, kind, size, before, beforeUnknown, after } = data
  const type = types[event.type]
  const contentOf = async (hash: string | undefined) =>
    hash === undefined ? undefined : text(await journal.blob(hash))
  /** Content that does not exist is empty for a diff; content that is not stored is unknown. */
  const old = () => (type === 'create' && !beforeUnknown ? '' : contentOf(before))
  const now = () => (type === 'delete' ? '' : contentOf(after))
  return {
    type,
    path,
    ...(previousPath !== undefined && { previousPath }),
    kind,
    ...(size !== undefined && { size }),
    timestamp: Date.parse(time),
    seq,
    before: () => contentOf(before),
    after: () => contentOf(after),
    async diff() {
      const [one, other] = await Promise.all([old(), now()])
      if (one === undefined || other === undefined) return undefined
      return unifiedDiff(diffText(one, other))
    },
  }
}
