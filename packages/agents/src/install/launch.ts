import { dirname, join } from 'node:path'
import { VitrineError } from '@vitrine/protocol'
import { builtinScript } from '../registry/builtin-script.ts'
import type { AgentEntry, NpmSource } from '../registry/entry.ts'
import { fill } from '../registry/fill.ts'
import { findCommand } from '../registry/find-command.ts'
import type { Installation } from './installation.ts'

/** The command and environment that start an agent. */
export interface AgentLaunch {
  readonly argv: readonly string[]
  readonly env: Readonly<Record<string, string>>
}

/** Paths that the command of an agent depends on. */
export interface LaunchPaths {
  /** The Node executable that runs scripts. */
  readonly node: string
  /** HOME as the agent sees it. */
  readonly home: string
  /** The rest of PATH; default the system folders. */
  readonly path?: string
  /** PATH in which commands of this machine are searched; default the host's PATH. */
  readonly commands?: string
}

const systemPath = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'

/**
 * Builds the command and environment of an agent; throws when it is not installed.
 *
 * @example
 * const { argv, env } = launchOf(findAgent('pi'), await installed(cache, 'pi'), { node: process.execPath, home })
 */
export function launchOf(
  entry: AgentEntry,
  installation: Pick<Installation, 'path'> | undefined,
  { node, home, path = systemPath, commands = process.env.PATH ?? '' }: LaunchPaths,
): AgentLaunch {
  const { argv, folders } = commandOf(entry, installation, node, commands)
  const own = Object.fromEntries(
    Object.entries(entry.env).map(([name, template]) => [name, fill(template, { home })]),
  )
  return { argv, env: { PATH: [...folders, dirname(node), path].join(':'), ...own } }
}

interface Command {
  readonly argv: readonly string[]
  /** Folders of the agent's own programs, for PATH. */
  readonly folders: readonly string[]
}

function commandOf(
  { name, source }: AgentEntry,
  installation: Pick<Installation, 'path'> | undefined,
  node: string,
  commands: string,
): Command {
  switch (source.kind) {
    case 'npm':
      if (installation === undefined)
        throw new VitrineError(
          'agent_not_installed',
          `The agent ${name} is not installed: call \`installAgent('${name}')\` while there is a network.`,
          { details: { agent: name } },
        )
      return fromNpm(source, installation.path, node)
    case 'command': {
      const [command = '', ...args] = source.command
      const found = findCommand(command, commands)
      if (found === undefined)
        throw new VitrineError(
          'agent_not_installed',
          `The agent ${name} is not installed: the command ${command} was not found. ${source.howToGet}`,
          { details: { agent: name, command } },
        )
      // Programs that the agent starts are often in the same folder.
      return { argv: [found, ...args], folders: [dirname(found)] }
    }
    case 'builtin': {
      const script = builtinScript(source)
      // A source checkout resolves the imported packages to their sources too.
      const flags = script.endsWith('.ts')
        ? ['--conditions=source', '--disable-warning=ExperimentalWarning']
        : []
      return { argv: [node, ...flags, script], folders: [] }
    }
  }
}

function fromNpm({ run }: NpmSource, folder: string, node: string): Command {
  const program = join(folder, run.path)
  return {
    argv: [...(run.with === 'node' ? [node] : []), program, ...run.args],
    folders: [join(folder, 'node_modules', '.bin')],
  }
}
