import * as z from 'zod/mini'
import { lazily } from '../lazy.ts'
import { longestTimer } from '../primitives/time-limit.ts'
import { strict } from './strict.ts'
import { flag, milliseconds, optionally, text, texts, textsByName, variables, whole } from './values.ts'

/** The kernel's smallest CPU quota is a hundredth of its period. */
const fewestCpus = 0.01

const cpus = () => {
  const message = `expected a number of at least ${fewestCpus}`
  return z.number(message).check(z.minimum(fewestCpus, message))
}

/** The smallest file system that holds a workspace and its own tables. */
const smallestDisk = 16 * 1024 * 1024

/** A limit with a default, which `false` turns off. */
const limitOrOff = () => z.union([whole(1), z.literal(false)])

export const limits = () =>
  strict({
    memoryBytes: z.optional(limitOrOff()),
    cpus: z.optional(cpus()),
    pids: z.optional(limitOrOff()),
    tmpBytes: z.optional(limitOrOff()),
    diskBytes: z.optional(whole(smallestDisk)),
    processes: z.optional(whole(1)),
    remembered: z.optional(whole(1)),
    outputBytes: z.optional(whole(1)),
    journalBytes: z.optional(whole(1)),
    inputBytes: z.optional(whole(1)),
    archives: optionally(() =>
      strict({
        inputBytes: z.optional(whole(1)),
        expandedBytes: z.optional(whole(1)),
        members: z.optional(whole(1)),
        ratio: z.optional(whole(1)),
      }),
    ),
  })

const watch = () =>
  strict({
    ignore: z.optional(z.array(text())),
    mode: z.optional(z.enum(['native', 'poll', 'find'])),
    intervalMs: z.optional(milliseconds()),
    maxEntries: z.optional(whole(1)),
    imageBytes: z.optional(whole()),
    imagesTotalBytes: z.optional(whole()),
  })

const fields = () => ({
  root: z.optional(z.string()),
  home: z.optional(z.string()),
  data: z.optional(z.string()),
  isolation: z.optional(z.enum(['auto', 'bubblewrap', 'none'])),
  rootfs: z.optional(z.enum(['read-only', 'writable'])),
  limits: optionally(limits),
  user: z.optional(z.string()),
  network: z.optional(z.enum(['none', 'host'])),
  egress: z.optional(texts()),
  env: z.optional(textsByName()),
  binds: optionally(() =>
    z.array(strict({ source: z.string(), target: z.optional(z.string()), writable: z.optional(flag()) })),
  ),
  grants: optionally(() => z.array(strict({ path: z.string(), writable: z.optional(flag()) }))),
  watch: optionally(() => z.union([watch(), z.literal(false)])),
})

/** Options for sandboxes on this machine. */
export const localOptions = lazily({
  /** Limits on the host's resources for a sandbox's egress proxy. */
  egressLimits: () =>
    strict({
      connections: z.optional(whole(1, longestTimer)),
      dialMs: z.optional(milliseconds()),
      headerMs: z.optional(milliseconds()),
      idleMs: z.optional(milliseconds()),
    }),
  local: () => strict({ ...fields(), env: z.optional(variables()) }),
  /** The JSON form, without `data`: a remote caller must not choose where the daemon stores its data. */
  json: () => z.omit(strict(fields()), { data: true }),
})
