import { existsSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { AgentInfo } from '@vitrine/protocol'
import pc from 'picocolors'
import { isLoopback } from './exposure.ts'
import type { RunningDaemon } from './start.ts'

/** Clients that wait for the port send their first requests within this time. */
const firstRequestsMs = 50

/** Lines for a person: the address, the facts of the daemon, the Inspector's link and what to do next. */
export async function* greeting(daemon: RunningDaemon, hostname: string): AsyncGenerator<string> {
  yield `${pc.bold('Vitrine')} listens on ${pc.cyan(daemon.url)}`
  // Looking for agents takes milliseconds, so it comes after the first requests.
  await sleep(firstRequestsMs)
  yield* await facts(daemon)
  yield `  Inspector  ${pc.cyan(inspectorUrl(daemon))}`
  if (!isLoopback(hostname)) yield pc.yellow(`  ${openToOtherMachines}`)
  yield 'Open the Inspector, follow along with "vitrine events tail", or connect({ url, token }) from a program.'
  yield stopping
}

export const stopping = pc.dim('Ctrl-C stops it; workspaces and journals stay.')

/** Isolation, data directory and agents. */
export async function facts({ data, isolation, host }: RunningDaemon): Promise<string[]> {
  return [
    `  isolation  ${isolationText(isolation)}`,
    `  data       ${data}`,
    `  agents     ${agentsText(await host.listAgents().catch(() => []))}`,
  ]
}

function isolationText(isolation: RunningDaemon['isolation']): string {
  if (isolation === 'none') return pc.yellow('none: commands run as this user, on this machine')
  if (isolation === 'bubblewrap' || findsBubblewrap()) return 'bubblewrap'
  return pc.yellow('none, because bubblewrap is not installed: commands run as this user, on this machine')
}

function findsBubblewrap(): boolean {
  return (process.env.PATH ?? '').split(delimiter).some((folder) => existsSync(join(folder, 'bwrap')))
}

function agentsText(agents: readonly AgentInfo[]): string {
  const found = agents.filter(({ installed }) => installed).map(({ name }) => name)
  const missing = agents.length - found.length
  const others = missing === 0 ? '' : `; ${missing} more with "vitrine agents install <name>"`
  return `${found.join(', ') || 'none'}${others}`
}

const openToOtherMachines =
  'Other machines can connect, over plain HTTP: put a TLS proxy in front on networks that you do not trust.'

/** One line of JSON for programs: the daemon's address, token and data directory. */
export function machineLine({ url, token, data }: RunningDaemon): string {
  return JSON.stringify({ url, token, data })
}

/** The Inspector's URL. The token is in the fragment, which browsers do not send to servers. */
export function inspectorUrl({ url, token }: { readonly url: string; readonly token?: string }): string {
  return token === undefined ? `${url}/ui/` : `${url}/ui/#token=${encodeURIComponent(token)}`
}
