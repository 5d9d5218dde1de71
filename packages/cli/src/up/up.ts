import { isVitrineError } from '@vitrine/protocol'
import pc from 'picocolors'
import { dataFolder } from '../serve/data-folder.ts'
import { inspectorUrl } from '../serve/inspector-url.ts'
import { runDaemon } from '../serve/run.ts'
import { findDaemon } from './find-daemon.ts'
import { startDemoSession } from './start-demo-session.ts'

export interface UpOptions {
  readonly host: string
  readonly ports: readonly number[]
  readonly data?: string
  readonly print: (line: string) => void
}

/** From nothing to something to look at. */
export async function up({ print, ...options }: UpOptions): Promise<void> {
  try {
    await runDaemon({ ...options, isolation: 'auto' }, (daemon) => {
      print(inspectorUrl(daemon))
      print(pc.dim('Ctrl-C stops it; workspaces and journals stay.'))
      startDemoSession(daemon).catch((error: unknown) => {
        const reason = error instanceof Error ? error.message : String(error)
        console.error(daemon.withoutTokens(`vitrine: the demo agent did not begin: ${reason}`))
      })
    })
  } catch (error) {
    if (!isVitrineError(error) || error.code !== 'store_owned') throw error
    const other = await findDaemon(dataFolder(options.data))
    if (other === undefined) throw error
    print(inspectorUrl(other))
    print(pc.dim(`It runs already (pid ${other.pid}); "kill ${other.pid}" stops it.`))
  }
}
