import type { AgentOutput, AgentOutputs, FunctionAgent, PromptContext } from '@vitrine/agents'
import type {
  CreateSandboxOptions,
  JsonObject,
  OnObserverError,
  SandboxClient,
  SandboxInfo,
} from '@vitrine/protocol'
import { VitrineError } from '@vitrine/protocol'
import { checkOptions, hostOptions } from '@vitrine/protocol/options'
import { fitsFilter } from '@vitrine/protocol/primitives'
import { local } from '@vitrine/sandbox'
import { createSandbox } from './create-sandbox.ts'
import type { HostSandbox } from './host-sandbox.ts'
import { lifeTimesOf } from './life-times/life-times-of.ts'
import { HostLook } from './looking/host-look.ts'
import { prune } from './prune.ts'
import { refuseUntaken } from './untaken-options.ts'

/** The agent name that sessions of an in-process sandbox use. */
export const inProcessAgent = 'in-process'

export interface InProcessOptions {
  /** Handles a prompt: returns strings, ACP updates, or events of any vocabulary. */
  onPrompt(prompt: string, context: PromptContext): AgentOutputs | Promise<AgentOutputs>
  /** Prefix of each sandbox's temporary directory, which is then watched. Without it, no files are watched. */
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
 * Creates sandboxes whose agent is a function in this process: for tests and offline work. Everything else is real.
 *
 * @example
 * const client = inProcessSandboxClient({ onPrompt: (prompt) => [`You said: ${prompt}`] })
 * const session = await (await client.create()).openSession({ agent: 'in-process' })
 */
export function inProcessSandboxClient(options: InProcessOptions): InProcessClient {
  checkOptions('inProcessSandboxClient', hostOptions.inProcess, options ?? {})
  const { onPrompt, workdir, id = (sequence) => `in-process-${sequence}`, onObserverError } = options
  const agent: FunctionAgent = { name: inProcessAgent, onPrompt }
  const live = new Map<string, { readonly sandbox: HostSandbox; readonly info: SandboxInfo }>()
  const infos = () => [...live.values()].map(stateNow)
  let sequence = 0
  return {
    async create(given = {}) {
      checkOptions('create', hostOptions.create, given)
      const { provider: chosen, local: options, spec, image, labels = {}, ...rest } = given
      refuseUntaken(inProcessAgent, { provider: chosen, local: options, spec, image })
      sequence += 1
      const name = given.id ?? (typeof id === 'function' ? id(sequence) : id)
      if (live.has(name)) throw new VitrineError('sandbox_exists', `There is a sandbox ${name} already.`)
      const sandbox = await createSandbox({
        ...rest,
        labels,
        id: name,
        agents: [agent],
        install: 'never',
        provider: local({ isolation: 'none', ...(workdir === undefined && { watch: false }) }),
        ...(workdir !== undefined && { prefix: workdir }),
        ...(onObserverError && { onObserverError }),
      })
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

function stateNow({
  sandbox,
  info,
}: {
  readonly sandbox: HostSandbox
  readonly info: SandboxInfo
}): SandboxInfo {
  return { ...info, state: sandbox.isUp ? 'running' : 'stopped' }
}

/** Executes one task; a new one is created for each. */
export interface InlineExecutor {
  /** Returns the result, or yields output while it works; then `resultArtifact` returns the result. */
  execute(task: string, signal: AbortSignal): Promise<unknown> | AsyncIterable<AgentOutput>
  resultArtifact?(): { readonly out?: unknown; readonly spent?: JsonObject }
  teardown?(grace: 'brutalKill'): unknown
}

/**
 * Creates sandboxes whose agent is an executor of single tasks. Its output is followed by the events `result` and `done`.
 *
 * @example
 * inlineSandboxClient(() => ({ execute: async (task) => `done: ${task}` }))
 */
export function inlineSandboxClient(
  factory: (context: PromptContext) => InlineExecutor | Promise<InlineExecutor>,
  options: Omit<InProcessOptions, 'onPrompt'> = {},
): InProcessClient {
  return inProcessSandboxClient({
    ...options,
    onPrompt: (prompt, context) => runInline(factory, prompt, context),
  })
}

async function* runInline(
  factory: (context: PromptContext) => InlineExecutor | Promise<InlineExecutor>,
  prompt: string,
  context: PromptContext,
): AsyncGenerator<AgentOutput> {
  const executor = await factory(context)
  try {
    const running = executor.execute(prompt, context.signal)
    const result = Symbol.asyncIterator in running ? undefined : await running
    if (Symbol.asyncIterator in running) yield* running
    const { out = result, spent } = executor.resultArtifact?.() ?? {}
    const finalText = typeof out === 'string' ? out : out === undefined ? '' : JSON.stringify(out)
    if (finalText !== '') yield finalText
    if (spent !== undefined) yield { type: 'llm_call', data: spent }
    yield { type: 'result', data: { finalText, ...(spent !== undefined && { tokenUsage: spent }) } }
    yield { type: 'done', data: {} }
  } finally {
    await executor.teardown?.('brutalKill')
  }
}
