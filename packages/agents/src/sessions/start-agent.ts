import { createHash } from 'node:crypto'
import { dirname, join } from 'node:path'
import type { Journal, Store } from '@vitrine/journal'
import {
  type CredentialGrant,
  type InstallProgress,
  isVitrineError,
  type JsonObject,
  type ModelEndpoint,
  type OpenSessionOptions,
  VitrineError,
} from '@vitrine/protocol'
import type { LocalSandbox } from '@vitrine/sandbox'
import { type CustomAgent, type FunctionAgent, isFunctionAgent, type ProgramAgent } from '../agents.ts'
import { functionTransport } from '../bridge/function-transport.ts'
import { processTransport } from '../bridge/process-transport.ts'
import { StderrLines } from '../bridge/stderr-lines.ts'
import type { AgentTransport } from '../bridge/transport.ts'
import { type Granted, grantCredentials } from '../credentials/grant.ts'
import { installAgent } from '../install/install-agent.ts'
import { installed } from '../install/installation.ts'
import { launchOf } from '../install/launch.ts'
import { builtinScript } from '../registry/builtin-script.ts'
import type { AgentEntry, AgentQuirks } from '../registry/entry.ts'
import { type Filling, fill } from '../registry/fill.ts'
import { findAgent, knownAgents } from '../registry/known-agents.ts'
import { listIn, textIn } from './fields.ts'
import { keepSecret } from './secrets.ts'

/** The agents that a host has, and where it keeps them. */
export interface AgentsOf {
  readonly custom: readonly CustomAgent[]
  /** Where agents are installed. */
  readonly cache: string
  /** The host's own environment and HOME: credentials come from there, when granted. */
  readonly env: Readonly<Record<string, string | undefined>>
  readonly home: string
  /** The Node that agents run on, as the sandbox sees it. */
  readonly node: string
  /** Whether an agent that is missing is installed when it is first wanted. */
  readonly install: 'lazy' | 'never'
  onInstall?(progress: InstallProgress): void
}

export interface Wanted extends OpenSessionOptions {
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
interface Place {
  readonly sandbox: LocalSandbox
  readonly journal: Journal
  readonly store: Store
  readonly agents: AgentsOf
}

export async function findAgentFor(where: Place, wanted: Wanted): Promise<FoundAgent> {
  for (const [name, secret] of secretsOfServers(wanted.mcpServers ?? []))
    keepSecret(where.store, name, secret)
  const custom = where.agents.custom.find(({ name }) => name === wanted.agent)
  if (custom === undefined) return knownAgent(where, wanted)
  if (isFunctionAgent(custom)) return functionAgent(where.sandbox, custom, wanted.id)
  for (const [name, value] of Object.entries(explicitValues(wanted.credentials)))
    keepSecret(where.store, `${custom.name} ${name}`, value)
  return programAgent(where.sandbox, custom, wanted)
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
    start: async () => functionTransport(agent, { session, workdir: sandbox.root }),
  }
}

function programAgent(sandbox: LocalSandbox, agent: ProgramAgent, wanted: Wanted): FoundAgent {
  const { name, command, args = [], env, cwd, reach = [], shared = false } = agent
  const argv =
    typeof command !== 'string'
      ? [...command, ...args]
      : args.length > 0
        ? [command, ...args]
        : ['sh', '-c', `exec ${command}`]
  const all = { ...env, ...explicitValues(wanted.credentials), ...wanted.env }
  return {
    name,
    quirks: noQuirks,
    howToLogIn: `Pass what it needs with \`credentials: { NAME: value }\` or \`env\`.`,
    shareKey: shared ? keyOf([name, all]) : undefined,
    credentials: Object.keys(explicitValues(wanted.credentials)),
    mode: undefined,
    async start() {
      if (reach.length > 0) await sandbox.reachMore(reach)
      return startProgram(sandbox, name, argv, all, cwd ?? wanted.cwd)
    },
  }
}

function explicitValues(grant: CredentialGrant | undefined): Readonly<Record<string, string>> {
  return typeof grant === 'object' ? grant : {}
}

async function knownAgent(where: Place, wanted: Wanted): Promise<FoundAgent> {
  const { sandbox, store, agents } = where
  const entry = known(wanted.agent, agents.custom)
  const granted = grantFor(entry, wanted, agents)
  for (const [index, secret] of granted.secrets.entries())
    keepSecret(store, `${entry.name} ${granted.names[index] ?? 'credential'}`, secret)
  keepSecret(store, `${entry.name} model endpoint`, wanted.modelEndpoint?.key ?? '')
  const isolated = sandbox.capabilities.isolation !== 'none'
  const inner = isolated ? entry.isolation.innerSandboxOff : undefined
  const endpoint = endpointOf(entry, wanted.modelEndpoint, sandbox.home)
  const shareKey = entry.capabilities.shared
    ? keyOf([entry.name, granted.env, granted.files, wanted.env ?? {}, wanted.modelEndpoint ?? {}])
    : undefined
  return {
    name: entry.name,
    quirks: entry.quirks,
    howToLogIn: howToLogIn(entry),
    shareKey,
    credentials: granted.names,
    mode: inner?.mode,
    async start(signal) {
      await mayRunHere(entry, sandbox)
      const launch = await launchFor(entry, where, signal)
      await sandbox.reachMore([
        ...(wanted.modelEndpoint === undefined ? entry.endpoints : []),
        ...endpoint.reach,
        ...Object.values(granted.env).flatMap(reachOf),
      ])
      const files = { ...inner?.files, ...endpoint.files }
      for (const [path, content] of Object.entries(files)) await putInHome(sandbox, path, content)
      for (const { path, content } of granted.files) await putInHome(sandbox, path, content)
      const env = {
        ...launch.env,
        ...filled(entry.env, sandbox),
        ...inner?.env,
        ...endpoint.env,
        ...granted.env,
      }
      return startProgram(sandbox, entry.name, launch.argv, { ...env, ...wanted.env }, wanted.cwd)
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

/** Without a word about credentials an agent that needs some is not even started. */
function grantFor(entry: AgentEntry, wanted: Wanted, { env, home }: AgentsOf): Granted {
  const { credentials: grant, modelEndpoint } = wanted
  const { variables, files } = entry.credentials
  const given = variables.some((name) => wanted.env?.[name] !== undefined)
  const free = entry.source.kind !== 'npm' || variables.length + files.length === 0
  if (grant === undefined && !given && !free && modelEndpoint === undefined)
    throw new VitrineError(
      'credentials_missing',
      `The agent ${entry.name} needs credentials, and none were granted. ${howToLogIn(entry)}`,
      { details: { agent: entry.name, variables: [...variables], files: [...files] } },
    )
  return grantCredentials(entry, grant ?? 'none', { env, home })
}

function howToLogIn({ credentials: { variables, files } }: AgentEntry): string {
  const [first] = variables
  const ways = [
    ...(first === undefined
      ? []
      : [`set ${variables.join(' or ')} where the host runs and pass \`credentials: 'env'\``]),
    ...(files.length === 0 ? [] : [`log in there and pass \`credentials: 'host'\``]),
    ...(first === undefined ? [] : [`pass \`credentials: { ${first}: '…' }\``]),
    "pass `credentials: 'none'` when the sandbox's own HOME has a login",
  ]
  const text = ways.join('; ')
  return `${text.slice(0, 1).toUpperCase()}${text.slice(1)}.`
}

async function mayRunHere({ name, isolation }: AgentEntry, sandbox: LocalSandbox): Promise<void> {
  if (!isolation.notRoot || sandbox.capabilities.isolation !== 'none' || process.getuid?.() !== 0) return
  const { stdout } = await sandbox.exec(['id', '-u'])
  if (stdout.trim() !== '0') return
  throw new VitrineError(
    'isolation_unavailable',
    `The agent ${name} refuses to run as root. Use \`isolation: 'bubblewrap'\`, or let the sandbox run as another user: \`user: 'nobody'\`, in a folder that this user owns.`,
  )
}

async function launchFor(
  entry: AgentEntry,
  { agents, sandbox, journal }: Place,
  signal: AbortSignal,
): Promise<{ readonly argv: readonly string[]; readonly env: Readonly<Record<string, string>> }> {
  const { name, source } = entry
  const { node, cache } = agents
  if (source.kind === 'builtin')
    return {
      argv: [node, '--disable-warning=ExperimentalWarning', builtinScript(source)],
      env: {},
    }
  if (source.kind === 'command') {
    const [program = ''] = source.command
    const found = await sandbox.exec(['sh', '-c', 'command -v "$1"', 'sh', program])
    if (found.exitCode !== 0)
      throw new VitrineError(
        'agent_not_installed',
        `The agent ${name} is not in this sandbox: there is no command ${program}. ${source.howToGet}`,
        { details: { agent: name } },
      )
    return { argv: source.command, env: {} }
  }
  const there = (await installed(cache, name)) ?? (await install(entry, agents, journal, signal))
  return launchOf(entry, there, { node, home: sandbox.home })
}

async function install(entry: AgentEntry, agents: AgentsOf, journal: Journal, signal: AbortSignal) {
  if (agents.install === 'never')
    throw new VitrineError(
      'agent_not_installed',
      `The agent ${entry.name} is not installed, and this host installs nothing by itself: call \`installAgent('${entry.name}')\`.`,
      { details: { agent: entry.name } },
    )
  const { onInstall } = agents
  const installation = await installAgent(entry, {
    cache: agents.cache,
    signal,
    ...(onInstall && { onProgress: (one) => onInstall(one) }),
  })
  const { name: agent, version } = installation
  await journal.append([{ type: 'agent.installed', data: { agent, version } }])
  return installation
}

function endpointOf(entry: AgentEntry, endpoint: ModelEndpoint | undefined, home: string) {
  if (endpoint === undefined) return { env: {}, files: {}, reach: [] }
  const { modelEndpoint } = entry
  if (modelEndpoint === undefined)
    throw new VitrineError(
      'unsupported',
      `It is not known how to point the agent ${entry.name} at another model endpoint.`,
    )
  if (reachOf(endpoint.url).length === 0)
    throw new VitrineError(
      'argument_invalid',
      `modelEndpoint.url: expected an http or https address, got ${JSON.stringify(endpoint.url)}.`,
    )
  const model = endpoint.model ?? modelEndpoint.defaultModel
  const values: Filling = {
    url: endpoint.url.replace(/\/+$/, '') + modelEndpoint.path,
    key: endpoint.key ?? 'none',
    home,
    ...(model !== undefined && { model }),
  }
  return {
    env: filledOnly(mapValues(modelEndpoint.env, (text) => fill(text, values))),
    files: mapValues(modelEndpoint.files, (text) => fill(text, quotable(values))),
    reach: reachOf(endpoint.url),
  }
}

/** Host and port of an address; nothing for any other text. */
function reachOf(text: string): string[] {
  if (!/^https?:\/\//.test(text) || !URL.canParse(text)) return []
  const { hostname, port, protocol } = new URL(text)
  return [`${hostname}:${port || (protocol === 'http:' ? '80' : '443')}`]
}

/** Servers are called with headers and started with variables; what is in them is nobody else's business. */
function secretsOfServers(servers: readonly JsonObject[]): [name: string, secret: string][] {
  return servers.flatMap((server) =>
    [...listIn(server, 'headers'), ...listIn(server, 'env')].map((pair): [string, string] => [
      `mcp ${textIn(pair, 'name') ?? ''}`,
      textIn(pair, 'value') ?? '',
    ]),
  )
}

/** What is left open by the endpoint is left to the agent. */
function filledOnly(env: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(env).filter(([, text]) => !/\{(url|key|model)\}/.test(text)))
}

/** In JSON and TOML they stand between quotes. */
function quotable(values: Filling): Filling {
  return mapValues(values, (text) => JSON.stringify(text).slice(1, -1))
}

function filled(env: Readonly<Record<string, string>>, { home }: LocalSandbox): Record<string, string> {
  return mapValues(env, (text) => fill(text, { home }))
}

function mapValues(
  record: Readonly<Record<string, string>>,
  change: (text: string) => string,
): Record<string, string> {
  return Object.fromEntries(Object.entries(record).map(([name, text]) => [name, change(text)]))
}

/** By a command of the sandbox: it belongs to whoever the agent runs as, and nobody else may read it. */
async function putInHome(sandbox: LocalSandbox, path: string, content: string): Promise<void> {
  const target = join(sandbox.home, path)
  const script = 'umask 077 && mkdir -p "$1" && cat > "$2" && chmod 600 "$2"'
  const { exitCode, stderr } = await sandbox.exec(['sh', '-c', script, 'sh', dirname(target), target], {
    stdin: content,
  })
  if (exitCode !== 0)
    throw new VitrineError('file_failed', `${target} could not be written: ${stderr.trim()}`)
}

async function startProgram(
  sandbox: LocalSandbox,
  name: string,
  argv: readonly string[],
  env: Readonly<Record<string, string>>,
  cwd: string,
): Promise<AgentTransport> {
  const stderr = new StderrLines()
  try {
    const process = await sandbox.talk(argv, {
      env,
      cwd,
      owner: name,
      onStderr: (chunk) => stderr.take(chunk),
    })
    return processTransport(process, stderr)
  } catch (error) {
    if (!isVitrineError(error)) throw error
    throw new VitrineError(error.code, `The agent ${name} could not be started: ${error.message}`, {
      cause: error,
      details: { ...error.details, agent: name },
    })
  }
}

function keyOf(parts: unknown): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex')
}
