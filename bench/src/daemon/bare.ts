import { fileURLToPath } from 'node:url'
import { answers, type Contestant, freePort, startContestant } from './contestant.ts'

export interface Answer {
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

/** A `node:http` server on the same Node, in a process of its own. */
export async function startBare(folder: string, answer: Answer): Promise<Contestant> {
  const script = fileURLToPath(new URL('./bare-http.ts', import.meta.url))
  const port = await freePort()
  const command = [process.execPath, '--disable-warning=ExperimentalWarning', script]
  return startContestant([...command, String(port), folder, JSON.stringify(answer)], {
    port,
    isReady: () => answers(port),
  })
}

/** The program alone, without the time that TypeScript takes to be stripped. */
export function bareProgram(port: number, body: string): string[] {
  const answer = `(request, response) => response.end(${JSON.stringify(body)})`
  const text = `require('node:http').createServer(${answer}).listen(${port}, '127.0.0.1')`
  return [process.execPath, '-e', text]
}

/** The same bytes as a daemon gives, but for what `node:http` adds by itself. */
export async function answerOf(url: string, token: string): Promise<Answer> {
  const response = await fetch(url, { headers: { authorization: `Bearer ${token}` } })
  const body = await response.text()
  const added = new Set(['connection', 'keep-alive', 'date', 'transfer-encoding'])
  const headers = Object.fromEntries([...response.headers].filter(([name]) => !added.has(name)))
  return { headers, body }
}
