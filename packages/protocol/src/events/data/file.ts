import * as z from 'zod/mini'
import { lazily } from '../../lazy.ts'
import { blobHash, count } from './shared.ts'

// A rename onto an existing file is only a `file.moved`. The entries of a deleted or moved directory come before it.
const fileChange = () =>
  z.looseObject({
    path: z.string(),
    /** The exact bytes of a path that is not UTF-8. */
    pathBase64: z.optional(z.string()),
    kind: z.enum(['file', 'directory', 'symlink', 'other']),
    size: z.optional(count()),
    previousPath: z.optional(z.string()),
    previousPathBase64: z.optional(z.string()),
    before: z.optional(blobHash()),
    /** The previous content exists but was not stored. */
    beforeUnknown: z.optional(z.boolean()),
    after: z.optional(blobHash()),
    /** Why its content is not stored: `size`, `private`, `unreadable`, `budget`, or `unchanged` since it was first seen. */
    afterOmitted: z.optional(z.string()),
    redacted: z.optional(z.boolean()),
    /** `manifest`: the manifest of the workspace made the change, before the sandbox was ready. */
    by: z.optional(z.string()),
  })

export const fileData = lazily({
  'file.created': fileChange,
  'file.changed': fileChange,
  'file.deleted': fileChange,
  'file.moved': () => z.extend(fileChange(), { previousPath: z.string() }),
  'watch.ready': () =>
    z.looseObject({
      root: z.string(),
      mode: z.optional(z.enum(['native', 'poll', 'find'])),
      entries: z.optional(count()),
    }),
  'watch.degraded': () =>
    z.looseObject({
      reason: z.string(),
      /** The first paths; `count` is the total. */
      uncovered: z.optional(z.array(z.string())),
      count: z.optional(count()),
    }),
})
