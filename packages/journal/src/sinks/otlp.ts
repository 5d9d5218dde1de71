import { isGap, type JournalEvent, type JournalItem } from '@vitrine/protocol'
import { checkOptions, sinkOptions } from '@vitrine/protocol/options'
import { notifyOne } from '@vitrine/protocol/primitives'
import { httpUrl, type PostTarget, postBatches } from './post.ts'
import type { Sink } from './sink.ts'

export interface OtlpSinkOptions extends PostTarget {
  /** Resource attributes of this host; `service.name` defaults to `vitrine`. */
  readonly resource?: Readonly<Record<string, string | number | boolean>>
  /** Called when the collector rejected a part of a batch. The rejected records are not sent again. */
  readonly onPartial?: (info: OtlpPartial) => void
}

export interface OtlpPartial {
  readonly rejected: number
  /** The collector's error message. */
  readonly message: string
}

const severities = {
  debug: { severityNumber: 5, severityText: 'DEBUG' },
  info: { severityNumber: 9, severityText: 'INFO' },
  warn: { severityNumber: 13, severityText: 'WARN' },
  error: { severityNumber: 17, severityText: 'ERROR' },
} as const

type Level = keyof typeof severities

const contextKeys = ['sandbox', 'session', 'run', 'turn', 'operation', 'caller', 'actor'] as const

/**
 * Sends events as OTLP log records, JSON over HTTP, to any OpenTelemetry collector.
 *
 * @example
 * await store.addSink('otel', otlpSink({ url: 'http://localhost:4318', resource: { 'service.name': 'ci' } }))
 */
export function otlpSink(options: OtlpSinkOptions): Sink {
  checkOptions('otlpSink', sinkOptions.otlp, options ?? {})
  const { resource, onPartial } = options
  const head = JSON.stringify({ attributes: attributes({ 'service.name': 'vitrine', ...resource }) })
  const target = { ...options, url: logsUrl(options.url) }
  return {
    kind: 'otlp',
    batchEvents: 500,
    write: postBatches('otlpSink', target, {
      contentType: 'application/json',
      maxBodyBytes: 8 * 1024 * 1024,
      encode: (item) => JSON.stringify(logRecord(item)),
      join: (records) =>
        `{"resourceLogs":[{"resource":${head},"scopeLogs":[{"scope":{"name":"vitrine"},"logRecords":[${records.join(',')}]}]}]}`,
      onResponse: (text, { onObserverError }) => {
        const partial = partialOf(text)
        // The batch was accepted: an error of the callback must not cause a retry.
        if (partial && onPartial)
          void notifyOne(onPartial, partial, (error) => onObserverError?.('onPartial', error))
      },
    }),
  }
}

function logsUrl(text: string | URL): URL {
  const url = httpUrl('otlpSink', text)
  const path = url.pathname.replace(/\/+$/, '')
  url.pathname = path.endsWith('/v1/logs') ? path : `${path}/v1/logs`
  return url
}

function logRecord(item: JournalItem) {
  const event = isGap(item) ? undefined : item
  const time = event && unixNano(event.time)
  return {
    ...(time !== undefined && { timeUnixNano: time }),
    observedTimeUnixNano: time ?? nanos(Date.now()),
    ...severities[levelOf(item)],
    eventName: item.type,
    body: { stringValue: JSON.stringify(item.data) },
    attributes: attributes({
      'event.name': item.type,
      'vitrine.journal': item.journal,
      ...eventAttributes(event),
    }),
    ...traceOf(event),
  }
}

function eventAttributes(event: JournalEvent | undefined): Record<string, string | number> {
  if (!event) return {}
  const values: Record<string, string | number> = { 'vitrine.seq': event.seq, 'vitrine.source': event.source }
  for (const key of contextKeys) {
    const value = event[key]
    if (value !== undefined) values[`vitrine.${key}`] = value
  }
  return values
}

function traceOf(event: JournalEvent | undefined) {
  if (!event?.trace || !isHexId(event.trace.traceId, 32)) return {}
  const { traceId, spanId } = event.trace
  return { traceId, ...(isHexId(spanId, 16) && { spanId }) }
}

/** In OpenTelemetry, an id of all zeros is invalid. */
function isHexId(text: string, length: number): boolean {
  return text.length === length && /^[0-9a-f]+$/i.test(text) && /[^0]/.test(text)
}

function levelOf({ type, data }: JournalItem): Level {
  if (type === 'log.message' && 'level' in data && isLevel(data.level)) return data.level
  if (type.endsWith('.failed') || ('outcome' in data && isFailure(data.outcome))) return 'error'
  if (type.endsWith('.degraded') || type === 'limit.reached' || type === 'journal.gap') return 'warn'
  return 'info'
}

function isLevel(value: unknown): value is Level {
  return typeof value === 'string' && Object.hasOwn(severities, value)
}

/** A cancellation is not a failure, because it was requested. */
function isFailure(outcome: unknown): boolean {
  return outcome === 'failed' || outcome === 'timeout' || outcome === 'interrupted'
}

function attributes(values: Readonly<Record<string, string | number | boolean>>) {
  return Object.entries(values).map(([key, value]) => ({ key, value: anyValue(value) }))
}

/** OTLP encodes 64-bit integers as strings, because JSON numbers lose precision beyond 2^53. */
function anyValue(value: string | number | boolean) {
  if (typeof value === 'string') return { stringValue: value }
  if (typeof value === 'boolean') return { boolValue: value }
  return Number.isSafeInteger(value) ? { intValue: String(value) } : { doubleValue: value }
}

function unixNano(time: string): string | undefined {
  const ms = Date.parse(time)
  return ms >= 0 ? nanos(ms) : undefined
}

function nanos(ms: number): string {
  return String(BigInt(ms) * 1_000_000n)
}

/** The rejected records in the collector's response, if any. A response that cannot be parsed is ignored. */
function partialOf(text: string): OtlpPartial | undefined {
  try {
    const { rejectedLogRecords, errorMessage } = JSON.parse(text).partialSuccess
    const rejected = Number(rejectedLogRecords)
    return rejected > 0 ? { rejected, message: String(errorMessage ?? '') } : undefined
  } catch {
    return undefined
  }
}
