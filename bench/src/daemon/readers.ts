import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { smallEvent } from '../journal/events.ts'
import { AnswerReader } from './answer-reader.ts'
import { openConnection, type Request, requestHead } from './connection.ts'

export interface ReadersOrder {
  readonly port: number
  /** Of the stream of events. */
  readonly listen: Request
  /** Of those that record some. */
  readonly record: Request
  /** How many readers stop reading as soon as they are heard. */
  readonly stalled: number
  readonly events: number
  readonly batch: number
}

export interface ReadersFigures {
  readonly ms: number
  readonly read: number
  readonly inOrder: boolean
  readonly frameBytes: number
  /** How many that do not read were still connected in the end. */
  readonly stillStalled: number
}

const stalled: Socket[] = []

/** Connects those that do not read: each has got the first word, and takes nothing after it. */
export async function stall({ port, listen, stalled: count }: ReadersOrder): Promise<void> {
  for (let index = 0; index < count; index += 1) {
    const socket = connect(port, '127.0.0.1')
    socket.on('error', () => undefined)
    socket.write(requestHead(listen))
    await once(socket, 'data')
    socket.pause()
    stalled.push(socket)
  }
}

/** Records events one batch after the other while somebody reads all of them, one by one. */
export async function recordAndRead(order: ReadersOrder): Promise<ReadersFigures> {
  const live = await readAll(order)
  const began = performance.now()
  await Promise.race([recordAll(order), live.end])
  await live.end
  const ms = performance.now() - began
  live.close()
  const stillStalled = stalled.filter(({ destroyed }) => !destroyed).length
  for (const socket of stalled.splice(0)) socket.destroy()
  return { ms, ...live.figures(), stillStalled }
}

async function readAll({ port, listen, events }: ReadersOrder) {
  let [read, seq, bytes] = [0, 0, 0]
  let inOrder = true
  let rest = ''
  const { promise: end, resolve, reject } = Promise.withResolvers<void>()
  const begun = Promise.withResolvers<void>()
  const answer = new AnswerReader((part) => {
    bytes += part.length
    begun.resolve()
    const frames = (rest + part.toString('latin1')).split('\n\n')
    rest = frames.pop() ?? ''
    for (const frame of frames) {
      if (!frame.startsWith('id: ')) continue
      const next = Number(/"seq":(\d+)/.exec(frame)?.[1])
      inOrder &&= seq === 0 || next === seq + 1
      seq = next
      if (frame.includes('"type":"log.message"')) read += 1
    }
    if (read >= events) resolve()
  })
  const socket = await openConnection(port, (part) => answer.feed(part))
  socket.on('close', () => reject(new Error(`The live reader was cut off after ${read} events.`)))
  socket.on('error', reject)
  end.catch(() => undefined)
  socket.write(requestHead(listen))
  await begun.promise
  return {
    end,
    figures: () => ({ read, inOrder, frameBytes: bytes / read }),
    close: () => socket.destroy(),
  }
}

async function recordAll({ port, record, events, batch }: ReadersOrder): Promise<void> {
  let reader = new AnswerReader()
  let answered = Promise.withResolvers<void>()
  const socket = await openConnection(port, (bytes) => {
    if (reader.feed(bytes)) answered.resolve()
  })
  socket.on('close', () => answered.reject(new Error('The connection that records was closed.')))
  for (let at = 0; at < events; at += batch) {
    const body = JSON.stringify({
      events: Array.from({ length: batch }, (_, index) => smallEvent(at + index)),
    })
    const headers = { ...record.headers, 'content-length': String(Buffer.byteLength(body)) }
    reader = new AnswerReader()
    answered = Promise.withResolvers()
    socket.write(requestHead({ ...record, headers }) + body)
    await answered.promise
    if (reader.status !== 204) throw new Error(`Expected 204, got ${reader.status}.`)
  }
  answered.promise.catch(() => undefined)
  socket.destroy()
}
