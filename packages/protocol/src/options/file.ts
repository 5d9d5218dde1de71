import * as z from 'zod/mini'
import { lazily } from '../lazy.ts'
import type { ArchiveScheme } from '../sandbox/files.ts'
import { strict } from './strict.ts'
import { callable, flag, mode, signal, text, texts, whole } from './values.ts'

const mostListed = 100_000
const mostHits = 100_000

/** The JSON part of the options; a client does not send its `signal`. */
const common = () => ({ user: z.optional(z.string()), signal: z.optional(signal()) })

/** The JSON part of the search options. */
export const searchFields = () => ({
  name: z.optional(z.string()),
  content: z.optional(text().check(z.regex(/^[^\n]*$/, 'expected a string without line breaks'))),
  ignoreCase: z.optional(flag()),
  ignore: z.optional(texts()),
  limit: z.optional(whole(1, mostHits)),
  user: z.optional(z.string()),
})

/** Any string here: the engine rejects an unknown scheme with `invalid_compression_scheme`. */
const archiveScheme = () => z.custom<ArchiveScheme>(() => true)

export const fileOptions = lazily({
  /** Options of `stat`, `exists` and `chmod`. */
  plain: () => strict(common()),
  read: () => strict({ from: z.optional(whole()), to: z.optional(whole()), ...common() }),
  write: () =>
    strict({
      append: z.optional(flag()),
      parents: z.optional(flag()),
      mode: z.optional(mode()),
      ...common(),
    }),
  list: () => strict({ limit: z.optional(whole(1, mostListed)), ...common() }),
  mkdir: () => strict({ parents: z.optional(flag()), mode: z.optional(mode()), ...common() }),
  move: () => strict({ parents: z.optional(flag()), ...common() }),
  remove: () => strict({ recursive: z.optional(flag()), force: z.optional(flag()), ...common() }),
  search: () => strict({ ...searchFields(), signal: z.optional(signal()) }),
  watch: () =>
    strict({ after: z.optional(z.string()), ignore: z.optional(texts()), signal: z.optional(signal()) }),
  uploadDirectory: () => strict({ to: z.optional(text()), onProgress: z.optional(callable()), ...common() }),
  downloadDirectory: () =>
    strict({ from: z.optional(text()), onProgress: z.optional(callable()), ...common() }),
  /** Options of `upload`, `download` and `extract`. */
  archive: () => strict({ scheme: z.optional(archiveScheme()), ...common() }),
})
