import { type AgentInfo, type InstallProgress, VitrineError } from '@vitrine/protocol'
import type { sessionRoutes } from '@vitrine/protocol/http'
import type { Daemon } from '../daemon/daemon.ts'
import type { HandlersOf, JsonOf } from '../routing/call.ts'
import { omitUndefined } from '../routing/omit-undefined.ts'
import { frame } from '../streams/frames.ts'
import { type EventStreamSource, eventStream, type StreamSettings } from '../streams/stream.ts'

type AgentRoutes = Pick<typeof sessionRoutes, 'listAgents' | 'getAgent' | 'installAgent'>

export function agentHandlers({ host, streams }: Daemon): HandlersOf<AgentRoutes> {
  const find = async (name: string) => {
    const agent = (await host.listAgents()).find((agentInfo) => agentInfo.name === name)
    if (agent === undefined)
      throw new VitrineError('agent_unknown', `There is no agent ${JSON.stringify(name)}.`)
    return agent
  }
  return {
    async listAgents() {
      return { agents: (await host.listAgents()).map(agentJson) }
    },
    async getAgent({ params }) {
      return agentJson(await find(params.agent))
    },
    async installAgent({ params, body, signal, wantsStream, context }) {
      const { agent } = params
      const { installed } = await find(agent)
      const version = body?.agentVersion ?? body?.agentProcessVersion ?? undefined
      const install = async (onProgress?: (progress: InstallProgress) => void) => {
        const options = {
          signal: signal(),
          ...(version !== undefined && { version }),
          ...(onProgress && { onProgress }),
        }
        const done = await host.installAgent(agent, options, context())
        return {
          ...done,
          already_installed: installed && !body?.reinstall,
          artifacts: [{ kind: 'agent_process', path: done.path, source: 'npm', version: done.version }],
        } satisfies JsonOf<AgentRoutes['installAgent']>
      }
      return wantsStream ? eventStream(progressSource(install, streams.problemOf), streams) : install()
    },
  }
}

/** An agent's JSON: our fields, and the fields that clients of sandbox-agent know. */
function agentJson(agent: AgentInfo): JsonOf<AgentRoutes['getAgent']> {
  const { name, installed, credentials, capabilities, options } = agent
  return {
    ...agent,
    id: name,
    installed,
    credentialsAvailable: credentials.present.length > 0 || credentials.accepted.length === 0,
    configOptions: options.map(({ id, name: title, category, current, choices }) => ({
      id,
      name: title,
      ...omitUndefined({ category, currentValue: current }),
      type: 'select',
      options: choices,
    })),
    // Of sandbox-agent's capabilities only those that are certain: ours for every agent, and those in the registry.
    capabilities: {
      ...capabilities,
      sessionLifecycle: true,
      errorEvents: true,
      fileChanges: true,
      mcpTools: capabilities.mcp,
      sharedProcess: capabilities.shared,
    },
  }
}

/** A stream of `progress` frames, then one `result` or `error` frame. */
function progressSource(
  install: (onProgress: (progress: InstallProgress) => void) => Promise<unknown>,
  problemOf: StreamSettings['problemOf'],
): EventStreamSource {
  const frames: Uint8Array[] = []
  let wake = () => {}
  let isOver = false
  const push = (event: string, data: unknown) => {
    frames.push(frame(event, data))
    wake()
  }
  const done = install((progress) => push('progress', progress))
    .then(
      (result) => push('result', result),
      (error: unknown) => push('error', problemOf(error)),
    )
    .finally(() => {
      isOver = true
      wake()
    })
  return {
    async next() {
      while (frames.length === 0 && !isOver) {
        const { promise, resolve } = Promise.withResolvers<void>()
        wake = resolve
        await promise
      }
      if (frames.length === 0) await done
      return frames.shift()
    },
    heartbeat: () => ({}),
    end: () => ({ reason: 'complete' }),
    close: () => {
      isOver = true
      wake()
    },
  }
}
