import { dirname, join } from 'node:path'
import { VitrineError } from '@vitrine/protocol'
import { builtinScript } from '../registry/builtin-script.ts'
import type { AgentEntry, NpmSource } from '../registry/entry.ts'
import { fill } from '../registry/fill.ts'
import { findCommand } from '../registry/find-command.ts'
import type { Installation } from './installation.ts'

/** How an agent is started, with nothing left to decide. */
export interface AgentLaunch {
  readonly argv: readonly string[]
  readonly env: Readonly<Record<string, string>>
}

export interface LaunchPlaces {
  /** The Node that scripts run on. */
  readonly node: string
  /** HOME as the agent sees it. */
  readonly home: string
  /** The rest of PATH; default the system's own folders. */
  readonly path?: string
  /** Where commands of this machine are looked for; default the host's PATH. */
  readonly commands?: string
}

const systemPath = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'

/**
 * @example
 * const { argv, env } = launchOf(findAgent('pi'), await installed(cache, 'pi'), { node: process.execPath, home })
 */
export function launchOf(
  entry: AgentEntry,
  installation: Pick<Installation, 'path'> | undefined,
  { node, home, path = systemPath, commands = process.env.PATH ?? '' }: LaunchPlaces,
): AgentLaunch {
  const { argv, folders } = start(entry, installation, node, commands)
  const own = Object.fromEntries(
    Object.entries(entry.env).map(([name, template]) => [name, fill(template, { home })]),
  )
  return { argv, env: { PATH: [...folders, dirname(node), path].join(':'), ...own } }
}

interface Start {
  readonly argv: readonly string[]
  /** Where its own programs are. */
  readonly folders: readonly string[]
}

function start(
  { name, source }: AgentEntry,
  installation: Pick<Installation, 'path'> | undefined,
  node: string,
  commands: string,
): Start {
  switch (source.kind) {
    case 'npm':
      if (installation === undefined)
        throw new VitrineError(
          'agent_not_installed',
          `The agent ${name} is not installed: \`await installAgent('${name}')\` where there is a network.`,
          { details: { agent: name } },
        )
      return fromNpm(source, installation.path, node)
    case 'command': {
      const [command = '', ...args] = source.command
      const found = findCommand(command, commands)
      if (found === undefined)
        throw new VitrineError(
          'agent_not_installed',
          `The agent ${name} is not on this machine: ${source.howToGet}`,
          { details: { agent: name, command } },
        )
      // What it calls is often beside it.
      return { argv: [found, ...args], folders: [dirname(found)] }
    }
    case 'builtin': {
      const script = builtinScript(source)
      // From the source, its packages are source as well.
      const flags = script.endsWith('.ts')
        ? ['--conditions=source', '--disable-warning=ExperimentalWarning']
        : []
      return { argv: [node, ...flags, script], folders: [] }
    }
  }
}

function fromNpm({ run }: NpmSource, folder: string, node: string): Start {
  const program = join(folder, run.path)
  return {
    argv: [...(run.with === 'node' ? [node] : []), program, ...run.args],
    folders: [join(folder, 'node_modules', '.bin')],
  }
}
