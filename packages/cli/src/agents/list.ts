import { listAgents } from '@vitrine/host'
import type { AgentInfo } from '@vitrine/protocol'
import pc from 'picocolors'

/** The agents as a table: what is here, what it needs, and how to get the rest. */
export async function agentTable(data: string | undefined): Promise<string[]> {
  // Beside a host that runs: nothing of it is opened.
  const agents = await listAgents({ ...(data !== undefined && { data }) })
  const rows = agents.map((agent) => [
    agent.name,
    agent.installed ? pc.green('ready') : pc.dim('not installed'),
    agent.version ?? agent.pinned ?? '',
    credentialsOf(agent),
    agent.installed ? '' : (agent.howToGet ?? `vitrine agents install ${agent.name}`),
  ])
  const widths = [0, 1, 2, 3].map((column) => Math.max(...rows.map((row) => visible(row[column] ?? ''))))
  return rows.map((row) =>
    row
      .map((cell, column) => padded(cell, widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  )
}

function credentialsOf({ from, credentials: { present, wanted } }: AgentInfo): string {
  if (present.length > 0) return pc.green(present.join(', '))
  return wanted.length === 0 || from === 'builtin' ? pc.dim('needs none') : pc.yellow(`wants ${wanted[0]}`)
}

function padded(cell: string, width: number): string {
  return cell + ' '.repeat(Math.max(0, width - visible(cell)))
}

/** Colours take no room. */
function visible(text: string): number {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: that is what colours are made of
  return text.replace(/\u001b\[\d+m/g, '').length
}
