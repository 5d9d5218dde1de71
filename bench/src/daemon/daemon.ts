import { mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { freePort, type ServerProcess, startServerProcess } from './server-process.ts'

/** The bundled command that users run. Measuring it needs 'build'. */
const command = fileURLToPath(new URL('../../../packages/cli/dist/main.js', import.meta.url))

export const token = 'a-token-for-benchmarks'

/** `vitrine serve` on a folder that holds its data and its workspace. */
export function serveCommand(folder: string, port: number): string[] {
  const [data, root] = [dataOf(folder), rootOf(folder)]
  for (const path of [data, root]) mkdirSync(path, { recursive: true })
  const flags = ['--port', String(port), '--data', data, '--root', root]
  return [process.execPath, command, 'serve', ...flags, '--token', token, '--isolation', 'none']
}

/** Starts the daemon in a separate process; it is ready when it has written its address file. */
export async function startDaemon(folder: string): Promise<ServerProcess> {
  const port = await freePort()
  return startServerProcess(serveCommand(folder, port), {
    port,
    isReady: () => hasWrittenAddress(folder, port),
  })
}

/** The workspace of the default sandbox. */
export function rootOf(folder: string): string {
  return join(folder, 'workspace')
}

export function dataOf(folder: string): string {
  return join(folder, 'data')
}

function hasWrittenAddress(folder: string, port: number): boolean {
  try {
    return JSON.parse(readFileSync(join(dataOf(folder), 'daemon.json'), 'utf8')).url.endsWith(`:${port}`)
  } catch {
    return false
  }
}
