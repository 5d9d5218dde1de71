import * as z from 'zod/mini'
import { component } from '../../component.ts'

export const health = component('Health', () => z.object({ status: z.literal('ok'), version: z.string() }))

export const capabilities = component('Capabilities', () =>
  z.object({
    commands: z.boolean(),
    files: z.boolean(),
    isolation: z.enum(['none', 'namespaces', 'container', 'machine']),
    killTree: z.enum(['complete', 'best-effort']),
    network: z.array(z.enum(['none', 'host', 'egress'])),
    limits: z.array(z.enum(['memory', 'cpu', 'pids', 'tmp', 'disk-exact', 'disk-accounted'])),
    terminals: z.boolean(),
    pause: z.enum(['freezer', 'signals', 'none']),
    watching: z.enum(['native', 'poll', 'none']),
    users: z.boolean(),
    snapshots: z.boolean(),
  }),
)

const infoFields = () => ({
  id: z.string(),
  provider: z.string(),
  labels: z.record(z.string(), z.string()),
  createdAt: z.string(),
  state: z.enum(['running', 'stopped', 'destroyed']),
  idleStopMs: z.exactOptional(z.int()),
  maxAgeMs: z.exactOptional(z.int()),
  ttlMs: z.exactOptional(z.int()),
  /** Present with `disk=true`, where it can be measured. */
  diskBytes: z.exactOptional(z.int()),
  /** Present if the record of the sandbox is damaged, so that it cannot be attached. */
  error: z.exactOptional(z.object({ code: z.string(), message: z.string() })),
})

export const sandboxInfo = component('SandboxInfo', () => z.object(infoFields()))

/** The info with the fields that a client needs to create its sandbox object. */
export const sandboxDescription = component('SandboxDescription', () =>
  z.object({ ...infoFields(), root: z.string(), capabilities: capabilities() }),
)

export const sandboxList = component('SandboxList', () =>
  z.object({
    sandboxes: z.array(sandboxInfo()),
    /** The id of the sandbox for routes without a sandbox id. */
    default: z.exactOptional(z.string()),
  }),
)

export const pruned = component('Pruned', () =>
  z.object({
    sandboxes: z.array(
      z.object({
        ...infoFields(),
        /** The disk space of its own folders; absent where it cannot be measured. */
        freedBytes: z.exactOptional(z.int()),
      }),
    ),
    freedBytes: z.int(),
  }),
)

export const portInfo = component('PortInfo', () =>
  z.object({ port: z.int(), address: z.string(), process: z.exactOptional(z.string()) }),
)

export const portAddress = component('PortAddress', () =>
  z.object({ host: z.string(), port: z.int(), url: z.string() }),
)

export const preview = component('Preview', () =>
  z.object({ url: z.string(), path: z.string(), token: z.string() }),
)
