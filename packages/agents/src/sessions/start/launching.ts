import type { Journal } from '@vitrine/journal'
import { isVitrineError, VitrineError } from '@vitrine/protocol'
import type { LocalSandbox } from '@vitrine/sandbox'
import { processTransport } from '../../bridge/process-transport.ts'
import { StderrLines } from '../../bridge/stderr-lines.ts'
import type { AgentTransport } from '../../bridge/transport.ts'
import { installAgent } from '../../install/install-agent.ts'
import { type Installation, installed } from '../../install/installation.ts'
import { type AgentLaunch, launchOf } from '../../install/launch.ts'
import type { AgentEntry, CommandSource } from '../../registry/entry.ts'
import type { AgentConfig } from './agent-config.ts'

interface LaunchEnvironment {
  readonly sandbox: LocalSandbox
  readonly journal: Journal
  readonly agents: AgentConfig
}

/** How a known agent is started here; one that is missing is installed first. */
export async function launchFor(
  entry: AgentEntry,
  place: LaunchEnvironment,
  signal: AbortSignal,
): Promise<AgentLaunch> {
  const { agents, sandbox } = place
  const { name, source } = entry
  await mayRunHere(entry, sandbox)
  if (source.kind === 'command') return { argv: await commandInside(name, source, sandbox), env: {} }
  const there =
    source.kind === 'npm'
      ? ((await installed(agents.cache, name)) ?? (await install(entry, place, signal)))
      : undefined
  return launchOf(entry, there, { node: agents.node, home: sandbox.home })
}

async function mayRunHere({ name, isolation }: AgentEntry, sandbox: LocalSandbox): Promise<void> {
  if (!isolation.notRoot || sandbox.capabilities.isolation !== 'none' || process.getuid?.() !== 0) return
  const { stdout } = await sandbox.execUnchecked(['id', '-u'])
  if (stdout.trim() !== '0') return
  throw new VitrineError(
    'isolation_unavailable',
    `The agent ${name} refuses to run as root. Use \`isolation: 'bubblewrap'\`, or let the sandbox run as another user: \`user: 'nobody'\`, in a folder that this user owns.`,
  )
}

async function commandInside(
  name: string,
  { command, howToGet }: CommandSource,
  sandbox: LocalSandbox,
): Promise<readonly string[]> {
  const [program = ''] = command
  const { exitCode } = await sandbox.execUnchecked(['sh', '-c', 'command -v "$1"', 'sh', program])
  if (exitCode === 0) return command
  throw new VitrineError(
    'agent_not_installed',
    `The agent ${name} is not in this sandbox: there is no command ${program}. ${howToGet}`,
    { details: { agent: name } },
  )
}

async function install(
  entry: AgentEntry,
  { agents, journal }: LaunchEnvironment,
  signal: AbortSignal,
): Promise<Installation> {
  const { install: when, cache, onInstall } = agents
  if (when === 'never')
    throw new VitrineError(
      'agent_not_installed',
      `The agent ${entry.name} is not installed, and this host installs nothing by itself: call \`installAgent('${entry.name}')\`.`,
      { details: { agent: entry.name } },
    )
  const onProgress = onInstall && { onProgress: (one: Parameters<typeof onInstall>[0]) => onInstall(one) }
  const installation = await installAgent(entry, { cache, signal, ...onProgress })
  const { name: agent, version } = installation
  await journal.append([{ type: 'agent.installed', data: { agent, version } }])
  return installation
}

export async function startProgram(
  sandbox: LocalSandbox,
  name: string,
  { argv, env }: AgentLaunch,
  cwd: string,
): Promise<AgentTransport> {
  const stderr = new StderrLines()
  try {
    const process = await sandbox.spawnPiped(argv, {
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
