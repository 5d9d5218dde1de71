import type { Journal } from '@vitrine/journal'
import { isVitrineError, VitrineError } from '@vitrine/protocol'
import type { SandboxEngine } from '@vitrine/sandbox'
import { processTransport } from '../../bridge/process-transport.ts'
import { StderrLines } from '../../bridge/stderr-lines.ts'
import type { AgentTransport } from '../../bridge/transport.ts'
import { installAgent } from '../../install/install-agent.ts'
import { type Installation, installed } from '../../install/installation.ts'
import { type AgentLaunch, launchOf } from '../../install/launch.ts'
import type { AgentEntry, CommandSource } from '../../registry/entry.ts'
import type { AgentConfig } from './agent-config.ts'

interface LaunchEnvironment {
  readonly sandbox: SandboxEngine
  readonly journal: Journal
  readonly agents: AgentConfig
}

/** Resolves the command of a known agent; installs the agent first if it is missing. */
export async function launchFor(
  entry: AgentEntry,
  environment: LaunchEnvironment,
  signal: AbortSignal,
): Promise<AgentLaunch> {
  const { agents, sandbox } = environment
  const { name, source } = entry
  await assertMayRun(entry, sandbox)
  if (source.kind === 'command') return { argv: await findCommandInside(name, source, sandbox), env: {} }
  const installation =
    source.kind === 'npm'
      ? ((await installed(agents.cache, name)) ?? (await install(entry, environment, signal)))
      : undefined
  return launchOf(entry, installation, { node: agents.node, home: sandbox.home })
}

async function assertMayRun({ name, isolation }: AgentEntry, sandbox: SandboxEngine): Promise<void> {
  if (!isolation.notRoot || sandbox.capabilities.isolation !== 'none' || process.getuid?.() !== 0) return
  const { stdout } = await sandbox.execUnchecked(['id', '-u'])
  if (stdout.trim() !== '0') return
  throw new VitrineError(
    'isolation_unavailable',
    `The agent ${name} refuses to run as root. Use \`isolation: 'bubblewrap'\`, or let the sandbox run as another user: \`user: 'nobody'\`, in a directory that this user owns.`,
  )
}

async function findCommandInside(
  name: string,
  { command, howToGet }: CommandSource,
  sandbox: SandboxEngine,
): Promise<readonly string[]> {
  const [program = ''] = command
  const { exitCode } = await sandbox.execUnchecked(['sh', '-c', 'command -v "$1"', 'sh', program])
  if (exitCode === 0) return command
  throw new VitrineError(
    'agent_not_installed',
    `The agent ${name} is not installed in this sandbox: the command ${program} was not found. ${howToGet}`,
    { details: { agent: name } },
  )
}

async function install(
  entry: AgentEntry,
  { agents, journal }: LaunchEnvironment,
  signal: AbortSignal,
): Promise<Installation> {
  const { install: when, installIsolation: isolation = 'auto', cache, onInstall } = agents
  if (when === 'never')
    throw new VitrineError(
      'agent_not_installed',
      `The agent ${entry.name} is not installed, and this host does not install agents by itself: call \`installAgent('${entry.name}')\`.`,
      { details: { agent: entry.name } },
    )
  const onProgress = onInstall && { onProgress: (one: Parameters<typeof onInstall>[0]) => onInstall(one) }
  const installation = await installAgent(entry, { cache, isolation, signal, ...onProgress })
  const { name: agent, version } = installation
  await journal.append([{ type: 'agent.installed', data: { agent, version } }])
  return installation
}

export async function startProgram(
  sandbox: SandboxEngine,
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
