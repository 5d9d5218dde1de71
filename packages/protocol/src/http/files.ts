import * as z from 'zod/mini'
import { searchFields } from '../options/file.ts'
import { strict } from '../options/strict.ts'
import { mode } from '../options/values.ts'
import { journalEvent } from './responses/event.ts'
import { changedFileList, fileList, fileStat, searchResult, unpacked } from './responses/file.ts'
import { frames } from './responses/stream.ts'
import { table } from './route.ts'
import { commaSeparated, count, flag, modeText } from './values.ts'

const user = z.optional(z.string())
/** Permission bits as a number, or as octal digits. */
const bits = () => z.union([mode(), modeText()])
/** `tar`, `tar.gz`, `tar.zst` or `zip`; the engine rejects others. */
const scheme = z.optional(z.string())

const file = (method: 'GET' | 'POST' | 'PUT', name: string, summary: string) =>
  ({ method, path: `/files/${name}`, scope: 'sandbox', access: 'full', summary }) as const

/** A path in a query is percent-encoded byte by byte, including bytes that are not valid UTF-8. */
export const fileRoutes = table({
  readFile: {
    ...file('GET', 'content', 'Reads a file, or a byte range of it given by header or by query.'),
    query: () =>
      strict({
        path: z.string(),
        /** The first byte. */
        from: z.optional(count()),
        /** The byte after the last one. */
        to: z.optional(count()),
        user,
      }),
    response: 'bytes',
    ranges: true,
  },
  writeFile: {
    ...file(
      'PUT',
      'content',
      'Writes the body to a file, completely or not at all. Missing parent directories are created unless `parents=false`.',
    ),
    query: () =>
      strict({
        path: z.string(),
        append: z.optional(flag()),
        parents: z.optional(flag()),
        mode: z.optional(modeText()),
        user,
      }),
    body: 'bytes',
    response: fileStat,
  },
  listFiles: {
    ...file('GET', 'list', 'Lists a directory, sorted by name.'),
    query: () => strict({ path: z.string(), limit: z.optional(count()), user }),
    response: fileList,
  },
  statFile: {
    ...file('GET', 'stat', 'Returns the metadata of a file, directory or link.'),
    query: () => strict({ path: z.string(), user }),
    response: fileStat,
  },
  fileExists: {
    ...file('GET', 'exists', 'Checks whether a path exists.'),
    query: () => strict({ path: z.string(), user }),
    response: () => z.object({ exists: z.boolean() }),
  },
  makeDirectory: {
    ...file('POST', 'mkdir', 'Creates a directory.'),
    body: () =>
      strict({
        path: z.string(),
        parents: z.optional(z.boolean()),
        mode: z.optional(bits()),
        user,
      }),
    status: 204,
    response: 'nothing',
  },
  moveFile: {
    ...file(
      'POST',
      'move',
      'Moves a file or directory. Missing parent directories are created unless `parents` is false.',
    ),
    body: () => strict({ from: z.string(), to: z.string(), parents: z.optional(z.boolean()), user }),
    status: 204,
    response: 'nothing',
  },
  removeFile: {
    ...file('POST', 'remove', 'Removes a file, or a directory with `recursive`.'),
    body: () =>
      strict({
        path: z.string(),
        recursive: z.optional(z.boolean()),
        force: z.optional(z.boolean()),
        user,
      }),
    status: 204,
    response: 'nothing',
  },
  changeMode: {
    ...file('POST', 'chmod', 'Changes permission bits.'),
    body: () => strict({ path: z.string(), mode: bits(), user }),
    status: 204,
    response: 'nothing',
  },
  searchFiles: {
    ...file('POST', 'search', 'Finds files by name or by content.'),
    body: () => strict({ path: z.string(), ...searchFields() }),
    response: searchResult,
  },
  listChangedFiles: {
    ...file(
      'GET',
      'changed',
      'Lists the net changes of files since the first event, without starting the sandbox.',
    ),
    access: 'read',
    response: changedFileList,
  },
  watchFiles: {
    ...file('GET', 'watch', 'Streams `file.*` events after a cursor, by default new ones.'),
    query: () => strict({ after: z.optional(z.string()), ignore: z.optional(commaSeparated()) }),
    response: 'event-stream',
    frames: () => frames({ message: journalEvent() }),
  },
  flushFiles: {
    ...file('POST', 'flush', 'Responds once every earlier change is in the journal.'),
    status: 204,
    response: 'nothing',
  },
  downloadArchive: {
    ...file('GET', 'archive', 'Downloads a file or directory as an archive.'),
    query: () => strict({ path: z.string(), scheme, user }),
    response: 'bytes',
    mediaTypes: ['application/x-tar', 'application/gzip', 'application/zstd'],
  },
  uploadArchive: {
    ...file('PUT', 'archive', 'Unpacks the archive in the body into a directory.'),
    query: () => strict({ path: z.string(), scheme, user }),
    body: 'bytes',
    response: unpacked,
  },
  extractArchive: {
    ...file(
      'POST',
      'extract',
      'Unpacks the archive at a path into its directory; an archive in the body is written to that path first.',
    ),
    query: () => strict({ path: z.string(), scheme, user }),
    body: 'bytes',
    bodyOptional: true,
    response: unpacked,
  },
})
