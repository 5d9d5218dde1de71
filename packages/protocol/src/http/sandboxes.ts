import * as z from 'zod/mini'
import { localOptions } from '../options/local.ts'
import { manifestOptions } from '../options/manifest.ts'
import { policyOptions } from '../options/policy.ts'
import { strict } from '../options/strict.ts'
import { unpacked } from './responses/file.ts'
import {
  health,
  portAddress,
  portInfo,
  preview,
  sandboxDescription,
  sandboxInfo,
  sandboxList,
} from './responses/sandbox.ts'
import { table } from './route.ts'
import { command, count, texts } from './values.ts'

const lifecycle = (path: string, summary: string) =>
  ({ method: 'POST', path: `/sandboxes/{sandbox}/${path}`, scope: 'host', access: 'full', summary }) as const

export const sandboxRoutes = table({
  health: {
    method: 'GET',
    path: '/health',
    scope: 'host',
    access: 'read',
    summary: 'Whether the daemon answers.',
    response: health,
  },
  cancelCall: {
    method: 'DELETE',
    path: '/calls/{call}',
    scope: 'host',
    access: 'full',
    summary: 'Calls off the call that was sent with this id as `vitrine-call`; answers once it has ended.',
    status: 204,
    response: 'nothing',
  },
  listSandboxes: {
    method: 'GET',
    path: '/sandboxes',
    scope: 'host',
    access: 'read',
    summary: 'Every sandbox that the host remembers.',
    response: sandboxList,
  },
  createSandbox: {
    method: 'POST',
    path: '/sandboxes',
    scope: 'host',
    access: 'full',
    summary: 'Creates a sandbox and starts it.',
    body: () =>
      strict({
        id: z.optional(z.string()),
        provider: z.optional(z.string()),
        labels: z.optional(texts),
        /** For sandboxes on the daemon's machine. */
        local: z.optional(localOptions.json),
        workspace: z.optional(manifestOptions.json),
        /** Which commands may run: rules, and what becomes of the others. */
        policy: z.optional(policyOptions.policy),
      }),
    status: 201,
    response: sandboxDescription,
  },
  getSandbox: {
    method: 'GET',
    path: '/sandboxes/{sandbox}',
    scope: 'host',
    access: 'read',
    summary: 'One sandbox as it is now; it is not started.',
    response: sandboxInfo,
  },
  attachSandbox: {
    ...lifecycle('attach', 'Starts a sandbox that is kept, unless it runs.'),
    response: sandboxDescription,
  },
  startSandbox: {
    ...lifecycle('start', 'Starts a sandbox that was stopped.'),
    response: sandboxDescription,
  },
  pauseSandbox: { ...lifecycle('pause', 'Freezes every process.'), response: sandboxInfo },
  resumeSandbox: { ...lifecycle('resume', 'Lets frozen processes go on.'), response: sandboxInfo },
  stopSandbox: {
    ...lifecycle('stop', 'Persists the workspace and ends every process.'),
    response: sandboxInfo,
  },
  shutdownSandbox: { ...lifecycle('shutdown', 'Ends every process.'), response: sandboxInfo },
  destroySandbox: {
    method: 'DELETE',
    path: '/sandboxes/{sandbox}',
    scope: 'host',
    access: 'full',
    summary: 'Removes the workspace for good. The journal stays.',
    status: 204,
    response: 'nothing',
  },
  isRunning: {
    method: 'GET',
    path: '/running',
    scope: 'sandbox',
    access: 'full',
    summary: 'Asks the sandbox whether it runs; an operation like any other.',
    response: () => z.object({ running: z.boolean() }),
  },
  onBeforeStop: {
    method: 'POST',
    path: '/before-stop',
    scope: 'sandbox',
    access: 'full',
    summary: 'Registers a command that runs before the workspace is persisted by a stop.',
    body: () => strict({ command }),
    status: 204,
    response: 'nothing',
  },
  skipOnPersist: {
    method: 'POST',
    path: '/skip-on-persist',
    scope: 'sandbox',
    access: 'full',
    summary: 'Keeps a path of the workspace out of what is persisted.',
    body: () => strict({ path: z.string() }),
    response: () => z.object({ path: z.string() }),
  },
  persistWorkspace: {
    method: 'GET',
    path: '/workspace',
    scope: 'sandbox',
    access: 'full',
    summary: 'The workspace as a tar.',
    response: 'bytes',
    mediaTypes: ['application/x-tar'],
  },
  hydrateWorkspace: {
    method: 'PUT',
    path: '/workspace',
    scope: 'sandbox',
    access: 'full',
    summary: 'The workspace becomes what is in the tar, all of it or not at all.',
    body: 'bytes',
    response: unpacked,
  },
  listPorts: {
    method: 'GET',
    path: '/ports',
    scope: 'sandbox',
    access: 'full',
    summary: 'What listens in the sandbox.',
    response: () => z.object({ ports: z.array(portInfo()) }),
  },
  resolvePort: {
    method: 'GET',
    path: '/ports/{port}',
    scope: 'sandbox',
    access: 'full',
    summary: 'Where a port of the sandbox can be reached; with `wait`, once something listens there.',
    query: () => strict({ wait: z.optional(count) }),
    response: portAddress,
  },
  previewPort: {
    method: 'POST',
    path: '/ports/{port}/preview',
    scope: 'sandbox',
    access: 'full',
    summary:
      'Shows a port to a browser: an address of its own, and a path for where such names do not resolve.',
    response: preview,
  },
})
