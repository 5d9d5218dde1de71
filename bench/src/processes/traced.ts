import { context, trace } from '@opentelemetry/api'
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks'
import { BasicTracerProvider, InMemorySpanExporter, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-base'

/** Runs with real spans that are exported to memory; `forget` drops them, so that they do not accumulate. */
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
