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

/** Span attributes of an operation. They never contain argv, paths, output or error text. */
export type SpanAttributes = Record<string, string | number | boolean>

/**
 * Opens the span of an operation inside the one around it. Without a tracer, it generates ids, so that operations
 * can still be joined and nested by them.
 */
export function openSpan(
  name: string,
  attributes: SpanAttributes,
  outer: OpenSpan | undefined,
  traceparent: string | undefined,
  onTracerError: (error: unknown) => void,
): OpenSpan {
  const remote = traceparent === undefined ? undefined : parseTraceparent(traceparent)
  const current = otelContext.active()
  // Without a context manager no context is ever active, but the outer operation is known.
  const active = current === ROOT_CONTEXT ? (outer?.context ?? current) : current
  const base = remote
    ? trace.setSpanContext(active, { ...remote, traceFlags: remote.flags, isRemote: true })
    : active
  const span = startSpan(name, attributes, base, onTracerError)
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

/** A tracer that throws must not fail the operation: it is treated as absent. */
function startSpan(
  name: string,
  attributes: SpanAttributes,
  parent: Context,
  onTracerError: (error: unknown) => void,
): Span {
  try {
    return trace.getTracer('vitrine').startSpan(name, { attributes }, parent)
  } catch (error) {
    onTracerError(error)
    return trace.wrapSpanContext(INVALID_SPAN_CONTEXT)
  }
}

/** Runs a function with the span as the active one. */
export function inSpan<T>({ context }: OpenSpan, run: () => T): T {
  return otelContext.with(context, run)
}

export function endSpan(
  { span }: OpenSpan,
  attributes: SpanAttributes,
  status: 'ok' | 'failed',
  onTracerError: (error: unknown) => void,
): void {
  try {
    span.setAttributes(attributes)
    if (status === 'failed') span.setStatus({ code: SpanStatusCode.ERROR })
    span.end()
  } catch (error) {
    onTracerError(error)
  }
}

/** Parses a W3C traceparent: version 00 exactly, and the known fields of a newer version. */
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
