import * as z from 'zod/mini'
import { namePattern } from '../ids.ts'
import { lazily } from '../lazy.ts'
import type { WorkspaceManifest } from '../sandbox/manifest.ts'
import type { EngineProvider, HostProvider } from '../sandbox/provider.ts'
import { createFields, createOptions, policy } from './create.ts'
import { journalingFields } from './journal.ts'
import { callContext } from './session.ts'
import { strict } from './strict.ts'
import {
  callable,
  duration,
  flag,
  having,
  isObject,
  optionally,
  signal,
  texts,
  textsByName,
  whole,
} from './values.ts'

const agentName = () =>
  z.string().check(z.regex(namePattern, 'expected a name of letters, digits, "_", "." and "-", 64 at most'))

const command = () =>
  z
    .union([z.string(), z.array(z.string())])
    .check(
      z.refine<string | string[]>((value) => value.length > 0, 'expected a string or an array of strings'),
    )

/** A custom agent that runs a program. */
const programFields = () => ({
  command: command(),
  args: z.optional(texts()),
  env: z.optional(textsByName()),
  cwd: z.optional(z.string()),
  egress: z.optional(texts()),
  shared: z.optional(flag()),
})

const customAgent = () =>
  z.union([
    strict({ name: z.string(), ...programFields() }),
    strict({ name: z.string(), onPrompt: callable() }),
  ])

/** The local provider; its options were checked when it was created. */
const engineProvider = () =>
  z.custom<EngineProvider>(
    (value) => isObject(value) && Reflect.get(value, 'name') === 'local',
    'expected a provider, such as `local({ … })`',
  )

const providerMethods = ['create', 'open', 'destroy'] as const

const provider = () =>
  z.custom<HostProvider>((value) => {
    if (!isObject(value)) return false
    const name: unknown = Reflect.get(value, 'name')
    if (name === 'local') return isObject(Reflect.get(value, 'options'))
    const hasMethods = providerMethods.every((method) => typeof Reflect.get(value, method) === 'function')
    return typeof name === 'string' && namePattern.test(name) && hasMethods
  }, 'expected a provider, such as `local({ … })`, or an object with a name and the methods `create`, `open` and `destroy`')

/** A policy compiled by `commandPolicy`. */
const compiledPolicy = () =>
  z.custom<object>(
    (value) =>
      typeof value === 'object' && value !== null && ['allow', 'ask', 'deny'].every((key) => key in value),
    'expected the value that `commandPolicy({ … })` returns',
  )

/** The states that a list can be asked for. */
export const listedStates = ['running', 'stopped', 'destroyed', 'all'] as const

const isolationKept = () => z.enum(['bubblewrap', 'none'])

const agentFields = () => ({
  agents: optionally(() => z.array(customAgent())),
  install: z.optional(z.enum(['lazy', 'never'])),
  onInstall: z.optional(callable()),
  agentCache: z.optional(z.string()),
})

const observing = () => ({ onObserverError: z.optional(callable()) })

export const hostOptions = lazily({
  open: () =>
    strict({
      data: z.optional(z.string()),
      providers: z.optional(z.array(provider())),
      store: z.optional(
        having<{ open(...given: never): unknown }>('a store, such as `sqliteStore({ path })`', 'open'),
      ),
      takeover: z.optional(flag()),
      forgetUnreadableSecrets: z.optional(flag()),
      floor: z.optional(strict({ isolation: z.optional(z.literal('bubblewrap')) })),
      ...agentFields(),
      ...journalingFields(),
      ...observing(),
    }),
  create: () => createOptions.host,
  attach: () =>
    strict({
      policy: z.optional(policy()),
      onAsk: z.optional(callable()),
      signal: z.optional(signal()),
      hooks: z.optional(
        strict({ beforeStop: z.optional(z.array(z.union([callable(), z.string(), texts()]))) }),
      ),
      secrets: z.optional(textsByName()),
      isolation: z.optional(isolationKept()),
      allowDegraded: z.optional(texts()),
    }),
  list: () =>
    strict({
      state: z.optional(z.enum(listedStates)),
      provider: z.optional(z.string()),
      labels: z.optional(textsByName()),
      disk: z.optional(flag()),
    }),
  prune: () =>
    strict({
      stoppedMs: whole(),
      provider: z.optional(z.string()),
      labels: z.optional(textsByName()),
      running: z.optional(flag()),
      dryRun: z.optional(flag()),
    }),
  listAgents: () => {
    const { agents, agentCache } = agentFields()
    return strict({ data: z.optional(z.string()), agents, agentCache })
  },
  installAgent: () =>
    strict({
      version: z.optional(z.string()),
      onProgress: z.optional(callable()),
      signal: z.optional(signal()),
    }),
  /** Options of `createSandbox` for scripts. */
  script: () =>
    strict({
      provider: z.optional(engineProvider()),
      prefix: z.optional(z.string()),
      ...createFields(),
      ...agentFields(),
      ...journalingFields(),
      ...observing(),
    }),
  /** Options of the engine's own `createSandbox`. */
  engine: () =>
    strict({
      provider: z.optional(engineProvider()),
      store: z.optional(
        having<{ journal(...given: never): unknown }>('the value that `openStore` returns', 'journal'),
      ),
      id: z.optional(z.string()),
      workspace: z.optional(z.custom<WorkspaceManifest>(() => true)),
      secrets: z.optional(textsByName()),
      context: z.optional(callContext()),
      onMachine: z.optional(callable()),
      persistenceBlocked: z.optional(flag()),
      privatePaths: z.optional(texts()),
      policy: z.optional(compiledPolicy()),
      onAsk: z.optional(callable()),
      signal: z.optional(signal()),
      ...observing(),
    }),
  inProcess: () =>
    strict({
      onPrompt: callable(),
      workdir: z.optional(z.string()),
      id: z.optional(z.union([z.string(), callable()])),
      ...observing(),
    }),
  /** Content of the file `agents.json`. */
  agentsFile: () => z.record(agentName(), strict(programFields())),
  waitForPort: () =>
    strict({ timeoutMs: z.optional(z.union([z.literal(0), duration()])), signal: z.optional(signal()) }),
  /** Options of the reads of a look. */
  look: () => strict({ signal: z.optional(signal()) }),
  /** Options of `persist` and `hydrate`. */
  archive: () => strict({ signal: z.optional(signal()) }),
})
