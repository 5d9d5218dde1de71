import { type Attributes, context, trace } from '@opentelemetry/api'
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks'
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  type ReadableSpan,
  SimpleSpanProcessor,
  type SpanProcessor,
} from '@opentelemetry/sdk-trace-base'
import { onTestFinished } from 'vitest'

export interface Tracing {
  /** The ended spans, in the order they ended. */
  readonly spans: () => readonly ReadableSpan[]
  readonly span: (name: string) => ReadableSpan
}

/** Registers a real OpenTelemetry SDK until the test ends. */
export function startTracing({
  contextManager = true,
  processors = [],
}: {
  contextManager?: boolean
  processors?: SpanProcessor[]
} = {}): Tracing {
  const exporter = new InMemorySpanExporter()
  const provider = new BasicTracerProvider({
    spanProcessors: [new SimpleSpanProcessor(exporter), ...processors],
  })
  trace.setGlobalTracerProvider(provider)
  const manager = new AsyncLocalStorageContextManager()
  if (contextManager) context.setGlobalContextManager(manager.enable())
  onTestFinished(async () => {
    trace.disable()
    context.disable()
    manager.disable()
    await provider.shutdown().catch(() => undefined)
  })
  const spans = () => exporter.getFinishedSpans()
  return {
    spans,
    span(name) {
      const found = spans().filter((span) => span.name === name)
      const [only] = found
      if (only === undefined || found.length > 1)
        throw new Error(`Expected one ${name}, got ${found.length}.`)
      return only
    },
  }
}

/** Everything an exporter could send of a span. */
export function exported({
  name,
  kind,
  attributes,
  events,
  links,
  status,
  resource,
  instrumentationScope,
}: ReadableSpan): {
  readonly name: string
  readonly attributes: Attributes
  readonly [part: string]: unknown
} {
  const { attributes: resourceAttributes } = resource
  return { name, kind, attributes, events, links, status, resourceAttributes, instrumentationScope }
}
