import { randomBytes } from 'node:crypto'
import {
  type Context,
  isSpanContextValid,
  context as otelContext,
  type Span,
  SpanStatusCode,
  TraceFlags,
  trace,
} from '@opentelemetry/api'
import { type TraceIds, VitrineError } from '@vitrine/protocol'

const tracer = () => trace.getTracer('vitrine')

export interface OpenSpan {
  readonly span: Span
  readonly context: Context
  readonly ids: TraceIds
}

/** What a span may say about an operation. Never argv, paths, output or error text. */
export type SpanAttributes = Record<string, string | number | boolean>

/**
 * Opens the span of an operation. Where nobody traces, the ids are made here, so that operations still join
 * and nest by them.
 */
export function openSpan(
  name: string,
  attributes: SpanAttributes,
  parent: TraceIds | undefined,
  traceparent: string | undefined,
): OpenSpan {
  const remote = traceparent === undefined ? undefined : parseTraceparent(traceparent)
  const active = otelContext.active()
  const base = remote
    ? trace.setSpanContext(active, { ...remote, traceFlags: remote.flags, isRemote: true })
    : active
  const span = tracer().startSpan(name, { attributes }, base)
  const own = span.spanContext()
  const above = trace.getSpanContext(base)
  const traced = isSpanContextValid(own) && own.spanId !== above?.spanId
  const upper = remote ?? parent ?? (above && isSpanContextValid(above) ? above : undefined)
  const ids: TraceIds = {
    traceId: traced ? own.traceId : (upper?.traceId ?? randomBytes(16).toString('hex')),
    spanId: traced ? own.spanId : randomBytes(8).toString('hex'),
    ...(traced && above && isSpanContextValid(above)
      ? { parentSpanId: above.spanId }
      : upper && { parentSpanId: upper.spanId }),
  }
  return { span, context: trace.setSpan(base, span), ids }
}

/** Runs a function with the span as the active one. */
export function within<T>({ context }: OpenSpan, run: () => T): T {
  return otelContext.with(context, run)
}

export function endSpan({ span }: OpenSpan, attributes: SpanAttributes, failed: boolean): void {
  span.setAttributes(attributes)
  if (failed) span.setStatus({ code: SpanStatusCode.ERROR })
  span.end()
}

/** W3C trace context, version 00. */
export function parseTraceparent(value: string): { traceId: string; spanId: string; flags: TraceFlags } {
  const match = /^[0-9a-f]{2}-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(?:-|$)/.exec(value)
  const [, traceId = '', spanId = '', flags = ''] = match ?? []
  if (!match || value.startsWith('ff') || /^0+$/.test(traceId) || /^0+$/.test(spanId)) {
    throw new VitrineError(
      'argument_invalid',
      'traceparent: expected the W3C form 00-<32 hex>-<16 hex>-<2 hex>.',
    )
  }
  return { traceId, spanId, flags: Number.parseInt(flags, 16) & TraceFlags.SAMPLED }
}
