import type { EventType } from '@vitrine/protocol'
import { agentSummaries } from './agent.ts'
import type { Summarizer } from './event-summary.ts'
import { fileSummaries } from './file.ts'
import { networkSummaries } from './network.ts'
import { operationSummaries } from './operation.ts'
import { processSummaries } from './process.ts'
import { recordSummaries } from './record.ts'
import { runtimeSummaries } from './runtime.ts'
import { sandboxSummaries } from './sandbox.ts'
import { sessionSummaries } from './session.ts'

const summaries: Readonly<Record<EventType, Summarizer>> = {
  ...sandboxSummaries,
  ...operationSummaries,
  ...processSummaries,
  ...fileSummaries,
  ...networkSummaries,
  ...agentSummaries,
  ...sessionSummaries,
  ...runtimeSummaries,
  ...recordSummaries,
}

const byType = new Map<string, Summarizer>(Object.entries(summaries))

/** The summarizer for an event type; `undefined` for a type that only a newer version knows. */
export function summaryOf(type: string): Summarizer | undefined {
  return byType.get(type)
}
