import {
  type Context,
  INVALID_SPAN_CONTEXT,
  isSpanContextValid,
  context as otelContext,
  ROOT_CONTEXT,
  type Span,
  SpanStatusCode,
  TraceFlags,
  trace,
} from '@opentelemetry/api'
import { randomHex, type TraceIds, VitrineError } from '@vitrine/protocol'

export interface OpenSpan {
  readonly span: Span
  readonly context: Context
  readonly ids: TraceIds
}

/** What a span may say about an operation. Never argv, paths, output or error text. */
export type SpanAttributes = Record<string, string | number | boolean>

/**
 * Opens the span of an operation inside the one around it. Where nobody traces, the ids are made here, so that
 * operations still join and nest by them.
 */
export function openSpan(
  name: string,
  attributes: SpanAttributes,
  outer: OpenSpan | undefined,
  traceparent: string | undefined,
): OpenSpan {
  const remote = traceparent === undefined ? undefined : parseTraceparent(traceparent)
  const current = otelContext.active()
  // Without a context manager nothing is ever active, but we know what runs around us.
  const active = current === ROOT_CONTEXT ? (outer?.context ?? current) : current
  const base = remote
    ? trace.setSpanContext(active, { ...remote, traceFlags: remote.flags, isRemote: true })
    : active
  const span = startSpan(name, attributes, base)
  const own = span.spanContext()
  const around = trace.getSpanContext(base)
  const above = around && isSpanContextValid(around) ? around : undefined
  const traced = isSpanContextValid(own) && own.spanId !== above?.spanId
  const upper = traced ? above : (remote ?? outer?.ids ?? above)
  const ids: TraceIds = {
    traceId: traced ? own.traceId : (upper?.traceId ?? randomHex(16)),
    spanId: traced ? own.spanId : randomHex(8),
    ...(upper && { parentSpanId: upper.spanId }),
  }
  return { span, context: trace.setSpan(base, span), ids }
}

/** A tracer watches, and watching fails nothing: one that throws is as good as none. */
function startSpan(name: string, attributes: SpanAttributes, parent: Context): Span {
  try {
    return trace.getTracer('vitrine').startSpan(name, { attributes }, parent)
  } catch {
    return trace.wrapSpanContext(INVALID_SPAN_CONTEXT)
  }
}

/** Runs a function with the span as the active one. */
export function inSpan<T>({ context }: OpenSpan, run: () => T): T {
  return otelContext.with(context, run)
}

export function endSpan({ span }: OpenSpan, attributes: SpanAttributes, status: 'ok' | 'failed'): void {
  try {
    span.setAttributes(attributes)
    if (status === 'failed') span.setStatus({ code: SpanStatusCode.ERROR })
    span.end()
  } catch {
    // As above: what was observed is not the observer's to fail.
  }
}

/** W3C trace context: version 00 exactly, and of a newer one the part that we know. */
export function parseTraceparent(value: string): { traceId: string; spanId: string; flags: TraceFlags } {
  const match = /^(?!ff)(?!00.{54})[0-9a-f]{2}-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(?:-|$)/s.exec(
    value,
  )
  const [, traceId = '', spanId = '', flags = ''] = match ?? []
  if (!match || /^0+$/.test(traceId) || /^0+$/.test(spanId)) {
    throw new VitrineError(
      'argument_invalid',
      'traceparent: expected the W3C form 00-<32 hex>-<16 hex>-<2 hex>.',
    )
  }
  return { traceId, spanId, flags: Number.parseInt(flags, 16) & TraceFlags.SAMPLED }
}
