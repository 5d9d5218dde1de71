import { openConnection, type RawRequest, requestHead } from './connection.ts'
import { ResponseReader } from './response-reader.ts'

export interface RequestsJob {
  readonly port: number
  readonly request: RawRequest
  readonly connections: number
  readonly count: number
}

export interface RequestsFigures {
  readonly p50Ms: number
  readonly perSecond: number
}

/** Sends requests over several connections. Each sends the next one after the response to the last. */
export async function sendRequests(job: RequestsJob): Promise<RequestsFigures> {
  const { port, connections, count } = job
  const request = Buffer.from(requestHead(job.request))
  const took = new Float64Array(count)
  let sent = 0
  let responses = 0
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  const senders = await Promise.all(
    Array.from({ length: connections }, async () => {
      let reader = new ResponseReader()
      let began = 0
      const socket = await openConnection(port, (bytes) => {
        if (!reader.feed(bytes)) return
        took[responses] = performance.now() - began
        responses += 1
        if (reader.status !== 200) reject(new Error(`Expected 200, got ${reader.status}.`))
        if (responses === count) resolve()
        send()
      })
      function send(): void {
        if (sent === count) return
        sent += 1
        reader = new ResponseReader()
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
