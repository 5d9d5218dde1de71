import { type ClientOptions, WebSocket } from 'ws'
import { checkJson, checkSocketMessage } from '../contract/contract.ts'
import type { ResponseJson, TestDaemon } from '../daemon.ts'

/** A WebSocket with everything that came over it. */
export interface Dialled {
  readonly socket: WebSocket
  readonly opened: Promise<void>
  /** The code and the reason of its end. */
  readonly closed: Promise<{ code: number; reason: string }>
  /** The received JSON messages. */
  readonly messages: ResponseJson[]
  /** The received bytes. */
  readonly output: string
  sendJson(message: unknown): void
}

/** Checks the messages of a terminal against the contract; a preview forwards a site's own messages. */
function messageOf(path: string, text: string): ResponseJson {
  const message = JSON.parse(text)
  if (/\/terminal\/ws($|\?)/.test(path)) checkSocketMessage(message)
  return message
}

export function terminalPath(process: string, sandbox?: string): string {
  return `/v1${sandbox === undefined ? '' : `/sandboxes/${sandbox}`}/processes/${process}/terminal/ws`
}

export function dialSocket(
  { port }: TestDaemon,
  path: string,
  options: ClientOptions & { protocols?: string[]; token?: string } = {},
): Dialled {
  const { protocols = [], token, ...rest } = options
  const headers = { ...rest.headers, ...(token !== undefined && { authorization: `Bearer ${token}` }) }
  const socket = new WebSocket(`ws://127.0.0.1:${port}${path}`, protocols, { ...rest, headers })
  const said: ResponseJson[] = []
  let output = ''
  socket.on('message', (data, isBinary) => {
    if (isBinary) output += String(data)
    else said.push(messageOf(path, String(data)))
  })
  const opened = new Promise<void>((resolve, reject) => {
    socket.once('open', resolve)
    socket.once('error', reject)
  })
  opened.catch(() => undefined)
  const closed = new Promise<{ code: number; reason: string }>((resolve) =>
    socket.once('close', (code, reason) => resolve({ code, reason: String(reason) })),
  )
  return {
    ...{ socket, opened, closed, messages: said },
    get output() {
      return output
    },
    sendJson: (message) => socket.send(typeof message === 'string' ? message : JSON.stringify(message)),
  }
}

/** How an upgrade was refused: its status and its problem. */
export async function refusalOf(dialled: Dialled): Promise<{ status: number; problem: ResponseJson }> {
  return new Promise((resolve, reject) => {
    dialled.socket.once('open', () => reject(new Error('It was opened.')))
    dialled.socket.once('unexpected-response', (_request, response) => {
      let text = ''
      response.on('data', (part) => {
        text += part
      })
      response.on('end', () => {
        const { statusCode = 0 } = response
        const problem = JSON.parse(text)
        checkJson({ method: 'GET', path: terminalPath('any') }, statusCode, problem)
        resolve({ status: statusCode, problem })
        dialled.socket.terminate()
      })
    })
  })
}
