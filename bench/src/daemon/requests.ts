import { AnswerReader } from './answer-reader.ts'
import { openConnection, type Request, requestHead } from './connection.ts'

export interface RequestsOrder {
  readonly port: number
  readonly request: Request
  readonly connections: number
  readonly count: number
}

export interface RequestsFigures {
  readonly p50Ms: number
  readonly perSecond: number
}

/** Each connection sends its next request when it has the answer to the last. */
export async function sendRequests(order: RequestsOrder): Promise<RequestsFigures> {
  const { port, connections, count } = order
  const request = Buffer.from(requestHead(order.request))
  const took = new Float64Array(count)
  let sent = 0
  let answered = 0
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  const senders = await Promise.all(
    Array.from({ length: connections }, async () => {
      let reader = new AnswerReader()
      let began = 0
      const socket = await openConnection(port, (bytes) => {
        if (!reader.feed(bytes)) return
        took[answered] = performance.now() - began
        answered += 1
        if (reader.status !== 200) reject(new Error(`Expected 200, got ${reader.status}.`))
        if (answered === count) resolve()
        send()
      })
      function send(): void {
        if (sent === count) return
        sent += 1
        reader = new AnswerReader()
        began = performance.now()
        socket.write(request)
      }
      socket.on('error', reject)
      socket.on('close', () => reject(new Error('The connection was closed.')))
      return { socket, send }
    }),
  )
  const began = performance.now()
  for (const { send } of senders) send()
  await promise
  const ms = performance.now() - began
  for (const { socket } of senders) socket.destroy()
  return { p50Ms: took.sort()[count >> 1]!, perSecond: (count / ms) * 1_000 }
}
