import * as z from 'zod/mini'
import { component } from '../../component.ts'

const kind = z.enum(['file', 'directory', 'symlink', 'other'])

export const fileStat = component('FileStat', () =>
  z.object({
    path: z.string(),
    kind,
    size: z.int(),
    mode: z.int(),
    modifiedAt: z.string(),
    target: z.exactOptional(z.string()),
  }),
)

export const fileList = component('FileList', () =>
  z.object({ entries: z.array(fileStat()), truncated: z.boolean() }),
)

export const searchResult = component('SearchResult', () =>
  z.object({
    hits: z.array(
      z.object({
        path: z.string(),
        kind,
        line: z.exactOptional(z.int()),
        text: z.exactOptional(z.string()),
      }),
    ),
    truncated: z.boolean(),
  }),
)

export const changedFileList = component('ChangedFileList', () =>
  z.object({
    files: z.array(
      z.object({
        path: z.string(),
        change: z.enum(['created', 'changed', 'deleted', 'moved']),
        kind,
        from: z.exactOptional(z.string()),
        size: z.exactOptional(z.int()),
        /** Blobs of its content before the first and after the last change. */
        before: z.exactOptional(z.string()),
        after: z.exactOptional(z.string()),
        redacted: z.exactOptional(z.literal(true)),
        replaced: z.exactOptional(z.literal(true)),
        /** The manifest of the workspace wrote it, and nothing has changed it since. */
        manifest: z.exactOptional(z.literal(true)),
        seq: z.int(),
      }),
    ),
    complete: z.boolean(),
  }),
)

/** The result of unpacking an archive. */
export const unpacked = component('Unpacked', () =>
  z.object({
    files: z.int(),
    directories: z.int(),
    links: z.int(),
    bytes: z.int(),
    leftOut: z.array(z.object({ path: z.string(), kind: z.enum(['fifo', 'socket', 'device', 'setuid']) })),
    leftOutCount: z.int(),
  }),
)
