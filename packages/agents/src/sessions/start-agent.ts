import { createHash } from 'node:crypto'
import type { Journal, Store } from '@vitrine/journal'
import { isVitrineError, type OpenSessionOptions, VitrineError } from '@vitrine/protocol'
import type { SandboxEngine } from '@vitrine/sandbox'
import type { AgentTransport } from '../bridge/transport.ts'
import {
  type CustomAgent,
  type FunctionAgent,
  isFunctionAgent,
  type ProgramAgent,
} from '../registry/custom-agent.ts'
import type { AgentEntry, AgentQuirks } from '../registry/entry.ts'
import { findAgent, knownAgents } from '../registry/known-agents.ts'
import type { AgentConfig } from './start/agent-config.ts'
import { addGrantSecrets, addServerSecrets, explicitValues, grantFor, howToLogIn } from './start/granting.ts'
import { launchFor, startProgram } from './start/launching.ts'
import { egressOf, modelEndpointSetup } from './start/model-endpoint.ts'
import { addSecret } from './start/secrets.ts'

export interface SessionRequest extends OpenSessionOptions {
  readonly id: string
  readonly cwd: string
}

/** An agent that is resolved and ready to be started. */
export interface FoundAgent {
  readonly name: string
  readonly quirks: AgentQuirks
  readonly howToLogIn: string
  /** Sessions with the same key may share a process; undefined when sharing is not allowed. */
  readonly shareKey: string | undefined
  /** Names of the credentials that the agent gets. */
  readonly credentials: readonly string[]
  /** The mode of a new session that sets none. */
  readonly mode: string | undefined
  start(signal: AbortSignal): Promise<AgentTransport>
}

/** The sandbox and host that an agent runs in. */
interface AgentEnvironment {
  readonly sandbox: SandboxEngine
  readonly journal: Journal
  readonly store: Store
  readonly agents: AgentConfig
}

export async function findAgentFor(
  environment: AgentEnvironment,
  request: SessionRequest,
): Promise<FoundAgent> {
  addServerSecrets(environment, request.mcpServers ?? [])
  const custom = environment.agents.custom.find(({ name }) => name === request.agent)
  if (custom === undefined) return knownAgent(environment, request)
  return isFunctionAgent(custom)
    ? functionAgent(environment.sandbox, custom, request.id)
    : programAgent(environment, custom, request)
}

const noQuirks: AgentQuirks = { notes: [] }

function functionAgent(sandbox: SandboxEngine, agent: FunctionAgent, session: string): FoundAgent {
  return {
    name: agent.name,
    quirks: noQuirks,
    howToLogIn: '',
    shareKey: undefined,
    credentials: [],
    mode: undefined,
    start: async () => {
      const { functionTransport } = await import('../bridge/function-transport.ts')
      return functionTransport(agent, { session, workdir: sandbox.root })
    },
  }
}

function programAgent(
  { sandbox, store }: AgentEnvironment,
  agent: ProgramAgent,
  request: SessionRequest,
): FoundAgent {
  const { name, command, args = [], cwd, egress = [], shared = false } = agent
  const granted = explicitValues(name, request.credentials)
  for (const [variable, value] of Object.entries(granted))
    addSecret({ store, sandbox }, `${name} ${variable}`, value)
  const argv = argvOf(command, args)
  const env = { ...agent.env, ...granted, ...request.env }
  return {
    name,
    quirks: noQuirks,
    howToLogIn: `Pass its credentials with \`credentials: { NAME: value }\` or \`env\`.`,
    shareKey: shared ? keyOf([name, env]) : undefined,
    credentials: Object.keys(granted),
    mode: undefined,
    async start() {
      if (egress.length > 0) await sandbox.allowEgress(egress)
      return startProgram(sandbox, name, { argv, env }, cwd ?? request.cwd)
    },
  }
}

function argvOf(command: string | readonly string[], args: readonly string[]): readonly string[] {
  if (typeof command !== 'string') return [...command, ...args]
  if (args.length > 0) return [command, ...args]
  return ['sh', '-c', command]
}

async function knownAgent(environment: AgentEnvironment, request: SessionRequest): Promise<FoundAgent> {
  const { sandbox, store, agents } = environment
  const { modelEndpoint, env = {} } = request
  const entry = known(request.agent, agents.custom)
  const granted = grantFor(entry, request, agents)
  addGrantSecrets({ store, sandbox }, entry, granted, request)
  const isolated = sandbox.capabilities.isolation !== 'none'
  const inner = isolated ? entry.isolation.innerSandboxOff : undefined
  const setup = modelEndpointSetup(entry, modelEndpoint, sandbox.home)
  const given = [granted.env, granted.files, env, modelEndpoint ?? {}]
  return {
    name: entry.name,
    quirks: entry.quirks,
    howToLogIn: howToLogIn(entry),
    shareKey: entry.capabilities.shared ? keyOf([entry.name, ...given]) : undefined,
    credentials: granted.names,
    mode: inner?.mode,
    async start(signal) {
      const launch = await launchFor(entry, environment, signal)
      const own = modelEndpoint === undefined ? entry.endpoints : setup.egress
      await sandbox.allowEgress([...own, ...Object.values(granted.env).flatMap(egressOf)])
      const logins = Object.fromEntries(granted.files.map(({ path, content }) => [path, content]))
      const removeFiles = await sandbox.putInHome({ ...inner?.files, ...setup.files, ...logins })
      const all = { ...launch.env, ...inner?.env, ...setup.env, ...granted.env, ...env }
      try {
        const transport = await startProgram(
          sandbox,
          entry.name,
          { argv: launch.argv, env: all },
          request.cwd,
        )
        return { ...transport, closed: transport.closed.finally(() => removeFiles().catch(() => undefined)) }
      } catch (error) {
        await removeFiles().catch(() => undefined)
        throw error
      }
    },
  }
}

function known(name: string, custom: readonly CustomAgent[]): AgentEntry {
  try {
    return findAgent(name)
  } catch (error) {
    if (!isVitrineError(error) || custom.length === 0) throw error
    const names = [...custom, ...knownAgents].map((agent) => agent.name)
    throw new VitrineError('agent_unknown', `Unknown agent "${name}"; known agents: ${names.join(', ')}.`, {
      details: { agent: name, known: names },
    })
  }
}

function keyOf(parts: unknown): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex')
}
