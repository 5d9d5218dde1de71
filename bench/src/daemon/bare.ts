import { fileURLToPath } from 'node:url'
import { freePort, responds, type ServerProcess, startServerProcess } from './server-process.ts'

export interface FixedResponse {
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

/** Starts a `node:http` server on the same Node in a separate process. */
export async function startBare(folder: string, response: FixedResponse): Promise<ServerProcess> {
  const script = fileURLToPath(new URL('./bare-http.ts', import.meta.url))
  const port = await freePort()
  const command = [process.execPath, '--disable-warning=ExperimentalWarning', script]
  return startServerProcess([...command, String(port), folder, JSON.stringify(response)], {
    port,
    isReady: () => responds(port),
  })
}

/** The command of a bare server in JavaScript, without the time for stripping TypeScript. */
export function bareProgram(port: number, body: string): string[] {
  const handler = `(request, response) => response.end(${JSON.stringify(body)})`
  const text = `require('node:http').createServer(${handler}).listen(${port}, '127.0.0.1')`
  return [process.execPath, '-e', text]
}

/** Fetches a daemon's response, without the headers that `node:http` adds itself. */
export async function fixedResponseOf(url: string, token: string): Promise<FixedResponse> {
  const response = await fetch(url, { headers: { authorization: `Bearer ${token}` } })
  const body = await response.text()
  const added = new Set(['connection', 'keep-alive', 'date', 'transfer-encoding'])
  const headers = Object.fromEntries([...response.headers].filter(([name]) => !added.has(name)))
  return { headers, body }
}
