import type { FileKind, JournalEvent } from '@vitrine/protocol'
import { asFields, countIn, idIn, textIn } from '../fields.ts'
import { exactPath } from './exact-path.ts'

const fileKinds: readonly FileKind[] = ['file', 'directory', 'symlink', 'other']

/** The fields of one `file.*` event. */
export interface FileChange {
  readonly path: string
  readonly previousPath: string | undefined
  readonly kind: FileKind
  readonly size: number | undefined
  readonly before: string | undefined
  readonly after: string | undefined
  readonly redacted: true | undefined
  /** Whether the manifest of the workspace made the change. */
  readonly byManifest: boolean
  readonly seq: number
}

export function fileChangeOf(event: JournalEvent): FileChange | undefined {
  const data = asFields(event.data)
  const path = exactPath(data, 'path')
  if (path === undefined) return undefined
  const kind = textIn(data, 'kind')
  return {
    path,
    previousPath: exactPath(data, 'previousPath'),
    kind: fileKinds.find((known) => known === kind) ?? 'other',
    size: countIn(data, 'size'),
    before: idIn(data, 'before'),
    after: idIn(data, 'after'),
    redacted: data.redacted === true || undefined,
    byManifest: data.by === 'manifest',
    seq: event.seq,
  }
}
