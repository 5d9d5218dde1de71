import * as z from 'zod/mini'
import { createOptions } from '../options/create.ts'
import { hostOptions, listedStates } from '../options/host.ts'
import { policyOptions } from '../options/policy.ts'
import { strict } from '../options/strict.ts'
import { unpacked } from './responses/file.ts'
import {
  health,
  portAddress,
  portInfo,
  preview,
  pruned,
  sandboxDescription,
  sandboxInfo,
  sandboxList,
} from './responses/sandbox.ts'
import { table } from './route.ts'
import { command, count, flag, live, texts } from './values.ts'

/** The labels in the query of a list. */
export const sandboxLabels = texts

/** Whether to measure the disk space of each sandbox. */
const disk = () => z.optional(flag())

const lifecycle = (path: string, summary: string) =>
  ({ method: 'POST', path: `/sandboxes/{sandbox}/${path}`, scope: 'host', access: 'full', summary }) as const

export const sandboxRoutes = table({
  health: {
    method: 'GET',
    path: '/health',
    scope: 'host',
    access: 'read',
    summary: 'Health check of the daemon.',
    response: health,
  },
  cancelCall: {
    method: 'DELETE',
    path: '/calls/{call}',
    scope: 'host',
    access: 'full',
    summary: 'Cancels the call that was sent with this id as `vitrine-call`; responds once it has ended.',
    status: 204,
    response: 'nothing',
  },
  listSandboxes: {
    method: 'GET',
    path: '/sandboxes',
    scope: 'host',
    access: 'read',
    summary:
      'Lists the sandboxes of the host that fit all parameters, destroyed ones only with a `state`; `labels` is a JSON object.',
    query: () =>
      strict({
        state: z.optional(z.enum(listedStates)),
        provider: z.optional(z.string()),
        labels: z.optional(z.string()),
        disk: disk(),
      }),
    response: sandboxList,
  },
  createSandbox: {
    method: 'POST',
    path: '/sandboxes',
    scope: 'host',
    access: 'full',
    summary: 'Creates a sandbox and starts it.',
    body: () => createOptions.json,
    status: 201,
    response: sandboxDescription,
  },
  getSandbox: {
    method: 'GET',
    path: '/sandboxes/{sandbox}',
    scope: 'host',
    access: 'read',
    summary: 'Returns one sandbox without starting it.',
    query: () => strict({ disk: disk() }),
    response: sandboxInfo,
  },
  attachSandbox: {
    ...lifecycle(
      'attach',
      'Starts a stopped sandbox as its record says, unless it is running, and returns its description.',
    ),
    body: () =>
      strict({
        /** Replaces the recorded rules. */
        policy: z.optional(policyOptions.policy),
        hooks: z.optional(
          strict({
            /** Commands that replace the recorded hooks. */
            beforeStop: z.optional(z.array(command())),
          }),
        ),
        /** The values of the secrets that the record names, and others to mask in the journal from now on. */
        secrets: z.optional(texts()),
        /** Replaces the recorded isolation; `none` lets an isolated sandbox come back without it. */
        isolation: z.optional(z.enum(['bubblewrap', 'none'])),
        /** Limits that it may come back without, such as `limits.memoryBytes`. */
        allowDegraded: z.optional(z.array(z.string())),
      }),
    bodyOptional: true,
    response: sandboxDescription,
  },
  startSandbox: {
    ...lifecycle('start', 'Starts a stopped sandbox.'),
    response: sandboxDescription,
  },
  pauseSandbox: { ...lifecycle('pause', 'Freezes every process.'), response: sandboxInfo },
  resumeSandbox: { ...lifecycle('resume', 'Unfreezes every process.'), response: sandboxInfo },
  stopSandbox: {
    ...lifecycle('stop', 'Persists the workspace and stops every process.'),
    response: sandboxInfo,
  },
  shutdownSandbox: { ...lifecycle('shutdown', 'Stops every process.'), response: sandboxInfo },
  destroySandbox: {
    method: 'DELETE',
    path: '/sandboxes/{sandbox}',
    scope: 'host',
    access: 'full',
    summary: 'Removes the workspace permanently and keeps the journal.',
    status: 204,
    response: 'nothing',
  },
  pruneSandboxes: {
    method: 'POST',
    path: '/prune',
    scope: 'host',
    access: 'full',
    summary: 'Destroys the stopped sandboxes that fit all fields, and returns them; their journals stay.',
    body: () => hostOptions.prune,
    response: pruned,
  },
  isRunning: {
    method: 'GET',
    path: '/running',
    scope: 'sandbox',
    access: 'full',
    summary:
      'Checks whether the sandbox is running; recorded as an operation, if it is. A stopped one is not started.',
    response: () => z.object({ running: z.boolean() }),
  },
  onBeforeStop: {
    method: 'POST',
    path: '/before-stop',
    scope: 'sandbox',
    access: 'full',
    summary: 'Registers a command that runs before a stop persists the workspace.',
    body: () => strict({ command: command() }),
    status: 204,
    response: 'nothing',
  },
  skipOnPersist: {
    method: 'POST',
    path: '/skip-on-persist',
    scope: 'sandbox',
    access: 'full',
    summary: 'Excludes a path of the workspace from persisting.',
    body: () => strict({ path: z.string() }),
    response: () => z.object({ path: z.string() }),
  },
  persistWorkspace: {
    method: 'GET',
    path: '/workspace',
    scope: 'sandbox',
    access: 'full',
    summary: 'Downloads the workspace as a tar.',
    response: 'bytes',
    mediaTypes: ['application/x-tar'],
  },
  hydrateWorkspace: {
    method: 'PUT',
    path: '/workspace',
    scope: 'sandbox',
    access: 'full',
    summary: 'Replaces the content of the workspace with the tar, completely or not at all.',
    body: 'bytes',
    response: unpacked,
  },
  listPorts: {
    method: 'GET',
    path: '/ports',
    scope: 'sandbox',
    access: 'read',
    summary: 'Lists the listening ports of the sandbox; none unless it runs.',
    query: () => strict({ live: live() }),
    response: () => z.object({ ports: z.array(portInfo()) }),
  },
  resolvePort: {
    method: 'GET',
    path: '/ports/{port}',
    scope: 'sandbox',
    access: 'full',
    summary: 'Returns the address of a port of the sandbox; with `wait`, once a process listens on it.',
    query: () => strict({ wait: z.optional(count()) }),
    response: portAddress,
  },
  previewPort: {
    method: 'POST',
    path: '/ports/{port}/preview',
    scope: 'sandbox',
    access: 'full',
    summary:
      'Makes a port available to a browser: under its own host name, and under a path where such names do not resolve.',
    response: preview,
  },
})
