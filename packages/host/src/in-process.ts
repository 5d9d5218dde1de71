import type { AgentOutputs, FunctionAgent, PromptContext } from '@vitrine/agents'
import type { CreateSandboxOptions, OnObserverError, SandboxClient, SandboxInfo } from '@vitrine/protocol'
import { VitrineError } from '@vitrine/protocol'
import { checkOptions, hostOptions } from '@vitrine/protocol/options'
import { fitsFilter } from '@vitrine/protocol/primitives'
import { local } from '@vitrine/sandbox'
import { createSandbox } from './create-sandbox.ts'
import { createEventOnly } from './event-only.ts'
import type { HostSandbox } from './host-sandbox.ts'
import { lifeTimesOf } from './life-times/life-times-of.ts'
import { HostLook } from './looking/host-look.ts'
import { prune } from './prune.ts'
import { refuseUntaken } from './untaken-options.ts'

/** The agent name that sessions of an in-process sandbox use. */
export const inProcessAgent = 'in-process'

export interface InProcessContext extends Omit<PromptContext, 'workdir'> {
  /** The directory of this sandbox; absent if its client has no `workdir`. */
  readonly workdir?: string
}

export interface InProcessOptions {
  /** Handles a prompt: returns strings, ACP updates, or events of any vocabulary. */
  onPrompt(prompt: string, context: InProcessContext): AgentOutputs | Promise<AgentOutputs>
  /**
   * Prefix of the name of each sandbox's temporary directory, which turns on files, commands and watching. Without it, a
   * sandbox is event-only.
   */
  readonly workdir?: string
  /** The id of the only sandbox, or a function of its number; default `in-process-1`, `in-process-2`, … */
  readonly id?: string | ((sequence: number) => string)
  /** Called for each error of an observer, such as a listener of a session. */
  readonly onObserverError?: OnObserverError
}

export interface InProcessClient extends SandboxClient {
  /** `provider`, `local`, `spec` and `image` are refused. The default of `id` is that of the client. */
  create(options?: CreateSandboxOptions): Promise<HostSandbox>
  attach(id: string): Promise<HostSandbox>
}

/**
 * Creates sandboxes whose agent is a function in this process: for tests and offline work. Journal, sessions and turns are
 * real, and so are files and commands with `workdir`.
 *
 * @example
 * const client = inProcessSandboxClient({ onPrompt: (prompt) => [`You said: ${prompt}`] })
 * const session = await (await client.create()).openSession({ agent: 'in-process' })
 */
export function inProcessSandboxClient(options: InProcessOptions): InProcessClient {
  checkOptions('inProcessSandboxClient', hostOptions.inProcess, options ?? {})
  const { workdir, id = (sequence) => `in-process-${sequence}` } = options
  const createBox = workdir === undefined ? createEventOnlyBox(options) : createBoxIn(workdir, options)
  const live = new Map<string, { readonly sandbox: HostSandbox; readonly info: SandboxInfo }>()
  const creating = new Set<string>()
  const infos = () => [...live.values()].map(stateNow)
  let sequence = 0
  return {
    async create(given = {}) {
      checkOptions('create', hostOptions.create, given)
      const { provider: chosen, local: options, spec, image, labels = {}, ...rest } = given
      refuseUntaken(inProcessAgent, { provider: chosen, local: options, spec, image })
      sequence += 1
      const name = given.id ?? (typeof id === 'function' ? id(sequence) : id)
      if (live.has(name) || creating.has(name))
        throw new VitrineError('sandbox_exists', `There is a sandbox ${name} already.`)
      creating.add(name)
      const sandbox = await createBox({ ...rest, labels, id: name }).finally(() => creating.delete(name))
      const { provider } = sandbox
      const createdAt = new Date().toISOString()
      live.set(name, {
        sandbox,
        info: { id: name, provider, labels, createdAt, state: 'running', ...lifeTimesOf(given) },
      })
      sandbox.afterEnd(async () => void live.delete(name))
      return sandbox
    },
    async attach(name) {
      const known = live.get(name)
      if (known === undefined)
        throw new VitrineError('sandbox_destroyed', `There is no sandbox ${name} in this process any more.`)
      return known.sandbox
    },
    async list(options = {}) {
      checkOptions('list', hostOptions.list, options)
      return infos().filter((info) => fitsFilter(info, options))
    },
    async look(name) {
      const known = live.get(name)
      if (known === undefined)
        throw new VitrineError('not_found', `There is no sandbox ${name} in this process.`)
      const { sandbox } = known
      return new HostLook(sandbox.journal, () => (sandbox.isUp ? sandbox : undefined))
    },
    async destroy(name) {
      await live.get(name)?.sandbox.lifecycle.destroy()
    },
    async prune(options) {
      checkOptions('prune', hostOptions.prune, options)
      return prune(
        {
          infos,
          info: (name) => infos().find(({ id }) => id === name),
          // A sandbox is listed once it has started.
          isStarting: () => false,
          journal: async (name) => (await this.attach(name)).journal,
          ownBytes: async () => undefined,
          destroy: async (name) => live.get(name)?.sandbox.lifecycle.destroy('prune'),
        },
        options,
      )
    },
  }
}

type CreateBox = (
  options: Omit<CreateSandboxOptions, 'provider' | 'local'> & { readonly id: string },
) => Promise<HostSandbox>

/** Creates sandboxes with files and commands below a temporary directory with this prefix. */
function createBoxIn(prefix: string, { onPrompt, onObserverError }: InProcessOptions): CreateBox {
  const agent: FunctionAgent = {
    name: inProcessAgent,
    onPrompt: (prompt, context) => onPrompt(prompt, context),
  }
  const provider = local({ isolation: 'none' })
  return (options) =>
    createSandbox({
      ...options,
      agents: [agent],
      install: 'never',
      provider,
      prefix,
      ...(onObserverError && { onObserverError }),
    })
}

function createEventOnlyBox({ onPrompt, onObserverError }: InProcessOptions): CreateBox {
  const agent: FunctionAgent = {
    name: inProcessAgent,
    onPrompt: (prompt, { workdir: _, ...context }) => onPrompt(prompt, context),
  }
  const parts = { provider: inProcessAgent, agent, ...(onObserverError && { onObserverError }) }
  return (options) => createEventOnly(options, parts)
}

function stateNow({
  sandbox,
  info,
}: {
  readonly sandbox: HostSandbox
  readonly info: SandboxInfo
}): SandboxInfo {
  return { ...info, state: sandbox.isUp ? 'running' : 'stopped' }
}
