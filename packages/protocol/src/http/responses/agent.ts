import * as z from 'zod/mini'
import { component } from '../../component.ts'
import { configChoice, configOption } from './session.ts'

const agentCapabilities = component('AgentCapabilities', () =>
  z.object({
    permissions: z.boolean(),
    questions: z.union([z.boolean(), z.literal('unknown')]),
    images: z.boolean(),
    load: z.boolean(),
    resume: z.boolean(),
    fork: z.boolean(),
    list: z.boolean(),
    close: z.boolean(),
    modes: z.boolean(),
    models: z.boolean(),
    thoughtLevels: z.boolean(),
    mcp: z.boolean(),
    shared: z.boolean(),
    // The same values under the names that sandbox-agent clients use.
    sessionLifecycle: z.boolean(),
    errorEvents: z.boolean(),
    fileChanges: z.boolean(),
    mcpTools: z.boolean(),
    sharedProcess: z.boolean(),
  }),
)

export const agentInfo = component('AgentInfo', () =>
  z.object({
    name: z.string(),
    title: z.string(),
    installed: z.boolean(),
    from: z.enum(['npm', 'builtin', 'command', 'function']),
    version: z.exactOptional(z.string()),
    pinned: z.exactOptional(z.string()),
    path: z.exactOptional(z.string()),
    credentials: z.object({ present: z.array(z.string()), accepted: z.array(z.string()) }),
    capabilities: agentCapabilities(),
    options: z.array(configOption()),
    howToGet: z.exactOptional(z.string()),
    // The same values under the names that sandbox-agent clients use.
    id: z.string(),
    credentialsAvailable: z.boolean(),
    configOptions: z.array(
      z.object({
        id: z.string(),
        name: z.string(),
        category: z.exactOptional(z.string()),
        type: z.literal('select'),
        currentValue: z.exactOptional(z.union([z.string(), z.boolean()])),
        options: z.array(configChoice()),
      }),
    ),
  }),
)

export const installProgress = component('InstallProgress', () =>
  z.object({
    agent: z.string(),
    step: z.enum(['download', 'postinstall', 'verify', 'done']),
    message: z.string(),
    bytes: z.exactOptional(z.int()),
  }),
)

export const installResult = component('InstallResult', () =>
  z.object({
    version: z.string(),
    path: z.string(),
    already_installed: z.boolean(),
    artifacts: z.array(
      z.object({
        kind: z.literal('agent_process'),
        path: z.string(),
        source: z.literal('npm'),
        version: z.string(),
      }),
    ),
  }),
)
