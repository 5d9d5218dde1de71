import { type ExportResult, ExportResultCode } from '@opentelemetry/core'
import type { ReadableSpan, SpanExporter } from '@opentelemetry/sdk-trace-base'

/**
 * Sends spans to a collector as OTLP, JSON over HTTP. The package `@opentelemetry/exporter-trace-otlp-http` does it with all
 * fields; this one lets the example run without it.
 */
export function spanExporter(collector: string): SpanExporter {
  async function send(spans: readonly ReadableSpan[]): Promise<void> {
    const resource = { attributes: attributes({ 'service.name': 'bakery' }) }
    const scopeSpans = [{ scope: { name: 'audit-example' }, spans: spans.map(encode) }]
    const { ok, status } = await fetch(`${collector}/v1/traces`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ resourceSpans: [{ resource, scopeSpans }] }),
    })
    if (!ok) throw new Error(`The collector responded with ${status}.`)
  }
  return {
    export(spans, done: (result: ExportResult) => void) {
      send(spans).then(
        () => done({ code: ExportResultCode.SUCCESS }),
        (error: Error) => done({ code: ExportResultCode.FAILED, error }),
      )
    },
    async shutdown() {},
  }
}

function encode(span: ReadableSpan) {
  const { traceId, spanId } = span.spanContext()
  const parentSpanId = span.parentSpanContext?.spanId
  return {
    traceId,
    spanId,
    ...(parentSpanId !== undefined && { parentSpanId }),
    name: span.name,
    kind: span.kind + 1, // OTLP counts from 1: 0 is "unspecified"
    startTimeUnixNano: nanoseconds(span.startTime),
    endTimeUnixNano: nanoseconds(span.endTime),
    attributes: attributes(span.attributes),
    status: { code: span.status.code },
  }
}

function nanoseconds([seconds, rest]: readonly [number, number]): string {
  return String(BigInt(seconds) * 1_000_000_000n + BigInt(rest))
}

function attributes(values: ReadableSpan['attributes']) {
  return Object.entries(values).map(([key, value]) => ({ key, value: { stringValue: String(value) } }))
}
