import { createHash } from 'node:crypto'
import type { Journal, Store } from '@vitrine/journal'
import { isVitrineError, type OpenSessionOptions, VitrineError } from '@vitrine/protocol'
import type { LocalSandbox } from '@vitrine/sandbox'
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
import { explicitValues, grantFor, howToLogIn, keepGranted, keepSecretsOfServers } from './start/granting.ts'
import { putInHome } from './start/home-files.ts'
import { launchFor, startProgram } from './start/launching.ts'
import { egressOf, pointAt } from './start/model-endpoint.ts'
import { keepSecret } from './start/secrets.ts'

export interface SessionRequest extends OpenSessionOptions {
  readonly id: string
  readonly cwd: string
}

/** An agent, found and ready to be started. */
export interface FoundAgent {
  readonly name: string
  readonly quirks: AgentQuirks
  readonly howToLogIn: string
  /** Sessions with the same key may share a process; none when they may not. */
  readonly shareKey: string | undefined
  /** Names of what it is given. */
  readonly credentials: readonly string[]
  /** The mode that a session begins with unless it says otherwise. */
  readonly mode: string | undefined
  start(signal: AbortSignal): Promise<AgentTransport>
}

/** Where an agent is to run. */
interface AgentEnvironment {
  readonly sandbox: LocalSandbox
  readonly journal: Journal
  readonly store: Store
  readonly agents: AgentConfig
}

export async function findAgentFor(where: AgentEnvironment, wanted: SessionRequest): Promise<FoundAgent> {
  keepSecretsOfServers(where.store, wanted.mcpServers ?? [])
  const custom = where.agents.custom.find(({ name }) => name === wanted.agent)
  if (custom === undefined) return knownAgent(where, wanted)
  return isFunctionAgent(custom)
    ? functionAgent(where.sandbox, custom, wanted.id)
    : programAgent(where, custom, wanted)
}

const noQuirks: AgentQuirks = { notes: [] }

function functionAgent(sandbox: LocalSandbox, agent: FunctionAgent, session: string): FoundAgent {
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
  wanted: SessionRequest,
): FoundAgent {
  const { name, command, args = [], cwd, egress = [], shared = false } = agent
  const granted = explicitValues(name, wanted.credentials)
  for (const [variable, value] of Object.entries(granted)) keepSecret(store, `${name} ${variable}`, value)
  const argv =
    typeof command !== 'string'
      ? [...command, ...args]
      : args.length > 0
        ? [command, ...args]
        : ['sh', '-c', command]
  const env = { ...agent.env, ...granted, ...wanted.env }
  return {
    name,
    quirks: noQuirks,
    howToLogIn: `Pass what it needs with \`credentials: { NAME: value }\` or \`env\`.`,
    shareKey: shared ? keyOf([name, env]) : undefined,
    credentials: Object.keys(granted),
    mode: undefined,
    async start() {
      if (egress.length > 0) await sandbox.allowEgress(egress)
      return startProgram(sandbox, name, { argv, env }, cwd ?? wanted.cwd)
    },
  }
}

async function knownAgent(where: AgentEnvironment, wanted: SessionRequest): Promise<FoundAgent> {
  const { sandbox, store, agents } = where
  const { modelEndpoint, env = {} } = wanted
  const entry = known(wanted.agent, agents.custom)
  const granted = grantFor(entry, wanted, agents)
  keepGranted(store, entry, granted, wanted)
  const isolated = sandbox.capabilities.isolation !== 'none'
  const inner = isolated ? entry.isolation.innerSandboxOff : undefined
  const pointed = pointAt(entry, modelEndpoint, sandbox.home)
  const given = [granted.env, granted.files, env, modelEndpoint ?? {}]
  return {
    name: entry.name,
    quirks: entry.quirks,
    howToLogIn: howToLogIn(entry),
    shareKey: entry.capabilities.shared ? keyOf([entry.name, ...given]) : undefined,
    credentials: granted.names,
    mode: inner?.mode,
    async start(signal) {
      const launch = await launchFor(entry, where, signal)
      const own = modelEndpoint === undefined ? entry.endpoints : pointed.egress
      await sandbox.allowEgress([...own, ...Object.values(granted.env).flatMap(egressOf)])
      const logins = Object.fromEntries(granted.files.map(({ path, content }) => [path, content]))
      const takeAway = await putInHome(sandbox, { ...inner?.files, ...pointed.files, ...logins })
      const all = { ...launch.env, ...inner?.env, ...pointed.env, ...granted.env, ...env }
      try {
        const transport = await startProgram(sandbox, entry.name, { argv: launch.argv, env: all }, wanted.cwd)
        return { ...transport, ended: transport.ended.finally(() => takeAway().catch(() => undefined)) }
      } catch (error) {
        await takeAway().catch(() => undefined)
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
    throw new VitrineError('agent_unknown', `There is no agent "${name}"; there are ${names.join(', ')}.`, {
      details: { agent: name, known: names },
    })
  }
}

function keyOf(parts: unknown): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex')
}
