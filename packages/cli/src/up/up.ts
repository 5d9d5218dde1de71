import { isVitrineError } from '@vitrine/protocol'
import pc from 'picocolors'
import { facts, inspectorUrl, stopping } from '../serve/announce.ts'
import { cloneDataFolder } from '../serve/clone-folder.ts'
import { type DaemonRecord, dataFolder, readDaemonFile } from '../serve/daemon-file.ts'
import { runDaemon } from '../serve/run.ts'
import { startDemoSession } from './start-demo-session.ts'

const healthMs = 2_000

export interface UpOptions {
  readonly host: string
  readonly ports: readonly number[]
  readonly data?: string
  readonly print: (line: string) => void
}

/** Starts a daemon and a demo session, or prints the link of the daemon that already runs. */
export async function up({ print, ...given }: UpOptions): Promise<void> {
  const data = given.data ?? cloneDataFolder()
  const options = { ...given, ...(data !== undefined && { data }) }
  try {
    await runDaemon({ ...options, isolation: 'auto' }, async (daemon) => {
      print(inspectorUrl(daemon))
      for (const line of await facts(daemon)) print(line)
      print(
        'Open the link: the demo agent is at work. Run your own with "vitrine ask", as "vitrine --help" says.',
      )
      print(stopping)
      startDemoSession(daemon).catch((error: unknown) => {
        const reason = error instanceof Error ? error.message : String(error)
        console.error(daemon.withoutTokens(`vitrine: the demo session did not start: ${reason}`))
      })
    })
  } catch (error) {
    if (!isVitrineError(error) || error.code !== 'store_owned') throw error
    const other = await findDaemon(dataFolder(options.data))
    if (other === undefined) throw error
    print(inspectorUrl(other))
    print(pc.dim(`The daemon already runs (pid ${other.pid}); "kill ${other.pid}" stops it.`))
  }
}

/** The daemon of a data directory, if it responds to a health check. */
async function findDaemon(data: string): Promise<DaemonRecord | undefined> {
  const daemon = readDaemonFile(data)
  if (daemon === undefined) return undefined
  const headers: Record<string, string> =
    daemon.token === undefined ? {} : { authorization: `Bearer ${daemon.token}` }
  try {
    const response = await fetch(`${daemon.url}/v1/health`, {
      headers,
      signal: AbortSignal.timeout(healthMs),
    })
    await response.arrayBuffer()
    return response.ok ? daemon : undefined
  } catch {
    return undefined
  }
}
