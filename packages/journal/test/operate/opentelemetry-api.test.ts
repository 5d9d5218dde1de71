import { createRequire } from 'node:module'
import { expect, it } from 'vitest'

// An API gets no tracer from an SDK that registered it with an older minor version of the API, and says nothing.
it('uses the same OpenTelemetry API as the SDK that a program registers', () => {
  const journal = createRequire(new URL('../../src/operate/trace.ts', import.meta.url))
  const sdk = createRequire(journal.resolve('@opentelemetry/sdk-trace-base'))
  expect(journal.resolve('@opentelemetry/api')).toBe(sdk.resolve('@opentelemetry/api'))
})
