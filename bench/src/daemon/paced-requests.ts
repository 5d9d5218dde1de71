import { setInterval } from 'node:timers/promises'
import { percentile } from '../report.ts'
import { openConnection, type RawRequest, requestHead } from './connection.ts'
import { ResponseReader } from './response-reader.ts'

export interface PacedRequestsJob {
  readonly port: number
  /** Sent at a steady pace, whether earlier ones have their response or not: a stall delays many of them. */
  readonly request: RawRequest
  readonly everyMs: number
  /** The least number of requests. */
  readonly count: number
  /** Requests that are all sent at the start; the paced ones go on until each has its response. */
  readonly beside: RawRequest
  readonly besideCount: number
}

export interface PacedRequestsFigures {
  readonly p50Ms: number
  readonly p95Ms: number
  readonly mostMs: number
  readonly requests: number
  readonly besideMs: number
  readonly besideBytes: number
}

/** Measures how long requests take beside others that are expensive. */
export async function pacedRequests(job: PacedRequestsJob): Promise<PacedRequestsFigures> {
  const { port, request, everyMs, count, beside, besideCount } = job
  const pool = new ConnectionPool(port)
  const began = performance.now()
  let besideLeft = besideCount
  let besideMs = 0
  const others = Array.from({ length: besideCount }, async () => {
    const { bytes } = await pool.send(beside)
    besideLeft -= 1
    besideMs = performance.now() - began
    return bytes
  })
  const paced: Promise<{ ms: number }>[] = []
  for await (const _ of setInterval(everyMs)) {
    paced.push(pool.send(request))
    if (paced.length >= count && besideLeft === 0) break
  }
  const took = (await Promise.all(paced)).map(({ ms }) => ms)
  const bytes = await Promise.all(others)
  pool.close()
  return {
    p50Ms: percentile(took, 0.5),
    p95Ms: percentile(took, 0.95),
    mostMs: Math.max(...took),
    requests: took.length,
    besideMs,
    besideBytes: bytes.reduce((sum, one) => sum + one, 0),
  }
}

interface PooledConnection {
  exchange(request: RawRequest): Promise<number>
  close(): void
}

/** One request at a time on each connection; another connection is opened when all are in use. */
class ConnectionPool {
  readonly #port: number
  readonly #all: PooledConnection[] = []
  readonly #free: PooledConnection[] = []

  constructor(port: number) {
    this.#port = port
  }

  /** The time includes that of a new connection, which a stalled server delays too. */
  async send(request: RawRequest): Promise<{ ms: number; bytes: number }> {
    const began = performance.now()
    const connection = this.#free.pop() ?? (await this.#open())
    const bytes = await connection.exchange(request)
    this.#free.push(connection)
    return { ms: performance.now() - began, bytes }
  }

  close(): void {
    for (const connection of this.#all) connection.close()
  }

  async #open(): Promise<PooledConnection> {
    let reader = new ResponseReader()
    let responded = Promise.withResolvers<number>()
    const socket = await openConnection(this.#port, (part) => {
      if (!reader.feed(part)) return
      if (reader.status === 200) responded.resolve(reader.bodyBytes)
      else responded.reject(new Error(`Expected 200, got ${reader.status}.`))
    })
    socket.on('error', (error) => responded.reject(error))
    socket.on('close', () => responded.reject(new Error('The connection was closed.')))
    const connection: PooledConnection = {
      exchange(request) {
        reader = new ResponseReader()
        responded = Promise.withResolvers()
        socket.write(requestHead(request))
        return responded.promise
      },
      close() {
        responded.promise.catch(() => undefined)
        socket.destroy()
      },
    }
    this.#all.push(connection)
    return connection
  }
}
