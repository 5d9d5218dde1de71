import { mkdtempSync, rmSync } from 'node:fs'
import { connect } from '@vitrine/client'
import { type AgentOutput, inProcessSandboxClient, local, openHost, type PromptContext } from '@vitrine/host'
import type { SandboxClient } from '@vitrine/protocol'
import { createServer, listen } from '@vitrine/server'

/** The agent of a test: each case sets it to what its agent does. */
export type OnPrompt = (
  prompt: string,
  context: PromptContext,
) => readonly AgentOutput[] | AsyncIterable<AgentOutput>

/** A client whose sandboxes have the function agent `in-process`. */
export interface RunClient {
  readonly client: SandboxClient
  onPrompt: OnPrompt
  close(): Promise<void>
}

const token = 'the-token-of-the-runs'

export const runClients: readonly (readonly [string, () => Promise<RunClient>])[] = [
  ['in process', async () => opened((agent) => inProcessSandboxClient({ ...agent, workdir: 'run-' }))],
  ['in an event-only box', async () => opened((agent) => inProcessSandboxClient(agent))],
  ['on a host', () => onHost(({ host }) => host)],
  ['over HTTP', () => onHost(({ url }) => connect({ url, token }))],
]

/** Those whose sandboxes are kept on record by a host. */
export const hostClients = runClients.filter(([name]) => ['on a host', 'over HTTP'].includes(name))

type Agent = { readonly onPrompt: OnPrompt }

function opened(client: (agent: Agent) => SandboxClient, close = async () => {}): RunClient {
  const run: RunClient = {
    client: client({ onPrompt: (prompt, context) => run.onPrompt(prompt, context) }),
    onPrompt: () => [],
    close,
  }
  return run
}

async function onHost(
  clientOf: (daemon: {
    readonly host: Awaited<ReturnType<typeof openHost>>
    readonly url: string
  }) => SandboxClient,
): Promise<RunClient> {
  // Not below /tmp: an isolated sandbox has a /tmp of its own.
  const data = mkdtempSync('/var/tmp/run-host-')
  let onPrompt: OnPrompt = () => []
  const agent = {
    name: 'in-process',
    onPrompt: (prompt: string, context: PromptContext) => onPrompt(prompt, context),
  }
  const host = await openHost({
    data,
    agents: [agent],
    install: 'never',
    // Isolation is not the subject, and takes time.
    providers: [local({ isolation: 'none' })],
  })
  const daemon = await listen(createServer({ host, tokens: [{ name: 'test', token, access: 'full' }] }))
  return {
    client: clientOf({ host, url: daemon.url }),
    get onPrompt() {
      return onPrompt
    },
    set onPrompt(next) {
      onPrompt = next
    },
    async close() {
      await daemon.close()
      await host.close()
      rmSync(data, { recursive: true, force: true })
    },
  }
}
