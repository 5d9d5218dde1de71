import { type Capabilities, isVitrineError, type SandboxClient } from '@vitrine/protocol'
import {
  type Deliverable,
  type OpenSandboxRunOptions,
  openSandboxRun,
  type SandboxEvent,
  type SandboxRun,
  SandboxRunError,
} from '@vitrine/runtime'
import { afterAll, afterEach, beforeAll, describe, expect, type TestContext } from 'vitest'
import { type OnPrompt, type RunClient, runClients } from './sandbox-run-clients.ts'

export const agentRun = {
  name: 'writer',
  profile: { agent: 'in-process' },
  taskToPrompt: (task: string) => task,
}

export const token = (text: string) => ({ type: 'token', data: { text } })

export const typesOf = (events: readonly SandboxEvent[]) => events.map(({ type }) => type)

export const tokens: Deliverable<unknown> = {
  kind: 'events',
  fromEvents: (events) => events.flatMap(({ type, data }) => (type === 'token' ? [data.text] : [])),
}

/** An agent that says one token and waits until it is cancelled. */
export async function* waitingAgent(_prompt: string, { signal }: { readonly signal: AbortSignal }) {
  yield token('first')
  await new Promise((resolve) => signal.addEventListener('abort', resolve))
}

/** The error of a turn that fails. */
export async function failure(turn: Promise<unknown>): Promise<SandboxRunError> {
  const error = await turn.then(
    () => new Error('It succeeded.'),
    (thrown: unknown) => thrown,
  )
  if (!(error instanceof SandboxRunError)) throw error
  return error
}

/** `ok`, or the code of the error. */
export async function failureOf(turn: Promise<unknown>): Promise<string> {
  return turn.then(
    () => 'ok',
    (error: unknown) => (isVitrineError(error) ? error.code : String(error)),
  )
}

/** The client of the cases, and its agent, which each case sets. */
export class RunSetting {
  #opened: RunClient | undefined
  #capabilities: Capabilities | undefined

  async start(openClient: () => Promise<RunClient>): Promise<void> {
    this.#opened = await openClient()
    const sandbox = await this.client.create()
    this.#capabilities = sandbox.capabilities
    await this.client.destroy(sandbox.id)
  }

  async close(): Promise<void> {
    await this.#opened?.close()
  }

  get client(): SandboxClient {
    return this.#started.client
  }

  set onPrompt(onPrompt: OnPrompt) {
    this.#started.onPrompt = onPrompt
  }

  /** Skips a case that needs a capability which the client's sandboxes do not have. */
  needs({ skip }: TestContext, capability: 'files' | 'commands'): void {
    skip(!this.#capabilities?.[capability], `capabilities.${capability} is false`)
  }

  open<Out>(
    deliverable: Deliverable<Out>,
    options: Partial<OpenSandboxRunOptions> = {},
  ): Promise<SandboxRun<Out>> {
    return openSandboxRun(this.client, { agentRun, readRetryDelayMs: 1, ...options }, deliverable)
  }

  get #started(): RunClient {
    if (this.#opened === undefined) throw new Error('The client is not open yet.')
    return this.#opened
  }
}

/** Declares cases for every client. A case leaves no sandbox behind. */
export function describeRuns(
  cases: (setting: RunSetting) => void,
  { subject = 'a run with sandboxes', clients = runClients } = {},
): void {
  describe.each(clients)(`${subject} %s`, (_, openClient) => {
    const setting = new RunSetting()
    beforeAll(() => setting.start(openClient), 60_000)
    afterAll(() => setting.close())
    afterEach(async () => {
      const left = (await setting.client.list()).filter(({ state }) => state !== 'destroyed')
      expect(left).toEqual([])
    })
    cases(setting)
  })
}
