import pc from 'picocolors'
import { isLoopback } from './exposure.ts'
import { inspectorUrl } from './inspector-url.ts'
import type { RunningDaemon } from './start.ts'

/** What a person wants to know first. */
export function greeting(daemon: RunningDaemon, hostname: string): string[] {
  return [
    `${pc.bold('Vitrine')} listens on ${pc.cyan(daemon.url)}`,
    `  data       ${daemon.data}`,
    `  Inspector  ${pc.cyan(inspectorUrl(daemon))}`,
    ...(isLoopback(hostname) ? [] : [pc.yellow(`  ${openToOthers}`)]),
    pc.dim('Ctrl-C stops it; workspaces and journals stay.'),
  ]
}

const openToOthers = 'Other machines reach it, over plain HTTP: put TLS in front where others could listen.'

/** For programs: where it is, and how to get in. */
export function machineLine({ url, token, data }: RunningDaemon): string {
  return JSON.stringify({ url, token, data })
}
