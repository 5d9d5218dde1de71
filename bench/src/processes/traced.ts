import { context, trace } from '@opentelemetry/api'
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks'
import { BasicTracerProvider, InMemorySpanExporter, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-base'

/** Real spans, kept in memory and dropped; `forget` keeps them from piling up. */
export async function traced<T>(run: (forget: () => void) => Promise<T>): Promise<T> {
  const exporter = new InMemorySpanExporter()
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable())
  trace.setGlobalTracerProvider(
    new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] }),
  )
  try {
    return await run(() => exporter.reset())
  } finally {
    trace.disable()
    context.disable()
  }
}
