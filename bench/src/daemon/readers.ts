import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { smallEvent } from '../journal/events.ts'
import { openConnection, type RawRequest, requestHead } from './connection.ts'
import { ResponseReader } from './response-reader.ts'

export interface ReadersJob {
  readonly port: number
  /** The request for the event stream. */
  readonly listen: RawRequest
  /** The request that records events. */
  readonly record: RawRequest
  /** The number of readers that stop reading after the first bytes. */
  readonly stalled: number
  readonly events: number
  readonly batch: number
}

export interface ReadersFigures {
  readonly ms: number
  readonly read: number
  readonly inOrder: boolean
  readonly frameBytes: number
  /** The number of stalled readers that were still connected at the end. */
  readonly stillStalled: number
}

const stalled: Socket[] = []

/** Connects readers that stall: each receives the first bytes and then stops reading. */
export async function stall({ port, listen, stalled: count }: ReadersJob): Promise<void> {
  for (let index = 0; index < count; index += 1) {
    const socket = connect(port, '127.0.0.1')
    socket.on('error', () => undefined)
    socket.write(requestHead(listen))
    await once(socket, 'data')
    socket.pause()
    stalled.push(socket)
  }
}

/** Records events batch by batch while a live reader reads all of them. */
export async function recordAndRead(job: ReadersJob): Promise<ReadersFigures> {
  const live = await readAll(job)
  const began = performance.now()
  await Promise.race([recordAll(job), live.end])
  await live.end
  const ms = performance.now() - began
  live.close()
  const stillStalled = stalled.filter(({ destroyed }) => !destroyed).length
  for (const socket of stalled.splice(0)) socket.destroy()
  return { ms, ...live.figures(), stillStalled }
}

async function readAll({ port, listen, events }: ReadersJob) {
  let [read, seq, bytes] = [0, 0, 0]
  let inOrder = true
  let rest = ''
  const { promise: end, resolve, reject } = Promise.withResolvers<void>()
  const started = Promise.withResolvers<void>()
  const response = new ResponseReader((part) => {
    bytes += part.length
    started.resolve()
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
  const socket = await openConnection(port, (part) => response.feed(part))
  socket.on('close', () => reject(new Error(`The live reader was cut off after ${read} events.`)))
  socket.on('error', reject)
  end.catch(() => undefined)
  socket.write(requestHead(listen))
  await started.promise
  return {
    end,
    figures: () => ({ read, inOrder, frameBytes: bytes / read }),
    close: () => socket.destroy(),
  }
}

async function recordAll({ port, record, events, batch }: ReadersJob): Promise<void> {
  let reader = new ResponseReader()
  let responded = Promise.withResolvers<void>()
  const socket = await openConnection(port, (bytes) => {
    if (reader.feed(bytes)) responded.resolve()
  })
  socket.on('close', () => responded.reject(new Error('The connection that records was closed.')))
  for (let at = 0; at < events; at += batch) {
    const body = JSON.stringify({
      events: Array.from({ length: batch }, (_, index) => smallEvent(at + index)),
    })
    const headers = { ...record.headers, 'content-length': String(Buffer.byteLength(body)) }
    reader = new ResponseReader()
    responded = Promise.withResolvers()
    socket.write(requestHead({ ...record, headers }) + body)
    await responded.promise
    if (reader.status !== 204) throw new Error(`Expected 204, got ${reader.status}.`)
  }
  responded.promise.catch(() => undefined)
  socket.destroy()
}
