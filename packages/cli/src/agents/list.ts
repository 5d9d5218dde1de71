import { listAgents } from '@vitrine/host'
import type { AgentInfo } from '@vitrine/protocol'
import pc from 'picocolors'

/** Lines of a table: each agent's state, version, credentials and install command. */
export async function agentTable(data: string | undefined): Promise<string[]> {
  // `listAgents` opens no store, so it also works while a host runs on the same data directory.
  const agents = await listAgents({ ...(data !== undefined && { data }) })
  const rows = agents.map((agent) => [
    agent.name,
    agent.installed ? pc.green('ready') : pc.dim('not installed'),
    agent.version ?? agent.pinned ?? '',
    credentialsOf(agent),
    agent.installed ? '' : (agent.howToGet ?? `vitrine agents install ${agent.name}`),
  ])
  const widths = [0, 1, 2, 3].map((column) =>
    Math.max(...rows.map((row) => visibleLength(row[column] ?? ''))),
  )
  return rows.map((row) =>
    row
      .map((cell, column) => padded(cell, widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  )
}

function credentialsOf({ from, credentials: { present, accepted } }: AgentInfo): string {
  if (present.length > 0) return pc.green(present.join(', '))
  return accepted.length === 0 || from === 'builtin'
    ? pc.dim('needs none')
    : pc.yellow(`needs ${accepted[0]}`)
}

function padded(cell: string, width: number): string {
  return cell + ' '.repeat(Math.max(0, width - visibleLength(cell)))
}

/** The length without ANSI colour codes. */
function visibleLength(text: string): number {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: ANSI colour codes begin with a control character
  return text.replace(/\u001b\[\d+m/g, '').length
}
