import { appendFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'
import * as z from 'zod/mini'

const attribute = z.object({
  key: z.string(),
  value: z.object({ stringValue: z.optional(z.string()) }),
})

const span = z.object({
  traceId: z.string(),
  spanId: z.string(),
  parentSpanId: z.optional(z.string()),
  name: z.string(),
  startTimeUnixNano: z.string(),
  endTimeUnixNano: z.string(),
  attributes: z.array(attribute),
})

const logRecord = z.object({
  spanId: z.optional(z.string()),
  attributes: z.array(attribute),
})

const traceRequest = z.object({
  resourceSpans: z.array(z.object({ scopeSpans: z.array(z.object({ spans: z.array(span) })) })),
})

const logRequest = z.object({
  resourceLogs: z.array(z.object({ scopeLogs: z.array(z.object({ logRecords: z.array(logRecord) })) })),
})

export type CollectedSpan = z.infer<typeof span>
export type CollectedLog = z.infer<typeof logRecord>

/**
 * An OpenTelemetry collector on loopback, for JSON over HTTP: it keeps spans and log records, and appends each request to a
 * file. A program that is not an example sends them to a real one.
 */
export class Collector implements AsyncDisposable {
  readonly spans: CollectedSpan[] = []
  readonly logs: CollectedLog[] = []
  readonly #file: string
  readonly #server = createServer((request, response) => {
    json(request)
      .then((body) => this.#take(request.url ?? '', body))
      .then(
        () => response.setHeader('content-type', 'application/json').end('{}'),
        (error: unknown) => response.writeHead(400).end(String(error)),
      )
  })

  constructor(file: string) {
    this.#file = file
  }

  /** Resolves with its address. */
  async listen(): Promise<string> {
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    this.#server.once('error', reject).listen(0, '127.0.0.1', resolve)
    await promise
    const { port } = this.#server.address() as AddressInfo
    return `http://127.0.0.1:${port}`
  }

  #take(path: string, body: unknown): void {
    if (path === '/v1/traces')
      for (const { scopeSpans } of traceRequest.parse(body).resourceSpans)
        this.spans.push(...scopeSpans.flatMap(({ spans }) => spans))
    else if (path === '/v1/logs')
      for (const { scopeLogs } of logRequest.parse(body).resourceLogs)
        this.logs.push(...scopeLogs.flatMap(({ logRecords }) => logRecords))
    else throw new Error(`Expected /v1/traces or /v1/logs, got ${path}.`)
    appendFileSync(this.#file, `${JSON.stringify(body)}\n`, { mode: 0o600 })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections()
    await this.#server[Symbol.asyncDispose]()
  }
}
