import pc from 'picocolors'
import { isLoopback } from './exposure.ts'
import type { RunningDaemon } from './start.ts'

/** Lines for a person: the address, the data directory, the Inspector's link and how to stop the daemon. */
export function greeting(daemon: RunningDaemon, hostname: string): string[] {
  return [
    `${pc.bold('Vitrine')} listens on ${pc.cyan(daemon.url)}`,
    `  data       ${daemon.data}`,
    `  Inspector  ${pc.cyan(inspectorUrl(daemon))}`,
    ...(isLoopback(hostname) ? [] : [pc.yellow(`  ${openToOtherMachines}`)]),
    pc.dim('Ctrl-C stops it; workspaces and journals stay.'),
  ]
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
