import { type EventContext, type EventInput, type JournalEvent, newId, VitrineError } from '@vitrine/protocol'
import type { Gates } from '../gates/gates.ts'
import { ambient } from './ambient.ts'
import { type Ending, endingOfError, endingOfResult, type FinishData, spanFacts } from './outcome.ts'
import { endSpan, type OpenSpan, openSpan, within } from './trace.ts'

/** The running operation, as its own code sees it. */
export interface Operation {
  readonly id: string
  /** The started event, as it was committed. */
  readonly start: JournalEvent
  /** Says how far it is. Resolves once committed. */
  progress(data: { readonly [key: string]: unknown }): Promise<void>
}

export interface OperateOptions<T> {
  /** What the result says about the end: exit code, bytes, outcome. */
  readonly finish?: (result: T) => FinishData
  readonly signal?: AbortSignal
  /** Joins the caller's trace: the W3C header. */
  readonly traceparent?: string
}

/** What `operate` needs of a journal. */
export interface OperationHost {
  readonly journal: string
  readonly backend: string
  readonly context: EventContext
  readonly gates: Gates
  append(events: readonly EventInput[]): Promise<readonly JournalEvent[]>
}

/**
 * The one function that writes `operation.started` and `operation.finished`. It asks the gates, opens the span,
 * and settles only after the finish is committed. Calls made inside `run` become child operations.
 */
export async function operate<T>(
  host: OperationHost,
  op: string,
  data: { readonly [key: string]: unknown },
  run: (operation: Operation) => T | Promise<T>,
  options: OperateOptions<T> = {},
): Promise<T> {
  const outer = ambient.getStore()
  const parent = outer?.journal === host.journal ? outer : undefined
  const id = newId('operation')
  const sandbox = host.context.sandbox ?? host.journal
  const attributes = {
    'sandbox.backend': host.backend,
    'sandbox.operation': op,
    'sandbox.session.id': sandbox,
    session_id: sandbox,
  }
  const span = openSpan(`sandbox.${op}`, attributes, outer?.context.trace, options.traceparent)
  const context: EventContext = { ...parent?.context, ...host.context, operation: id, trace: span.ids }
  const began = performance.now()
  let start: JournalEvent
  try {
    const started = { ...data, op, ...(parent && { parent: parent.operation }) }
    const [event] = await host.append([{ ...context, type: 'operation.started', data: started }])
    start = event!
  } catch (error) {
    endSpan(span, spanFacts(op, endingOfError(error, undefined), {}), true)
    throw error
  }
  const finish = (ending: Ending, facts: FinishData) =>
    finishOperation(host, span, op, context, began, ending, facts)
  const progress = async (details: { readonly [key: string]: unknown }) => {
    await host.append([{ ...context, type: 'operation.progress', data: { ...details, op } }])
  }

  let result: T
  let facts: FinishData
  try {
    options.signal?.throwIfAborted()
    if (host.gates.size > 0) await passGates(host.gates, start, progress, options.signal)
    options.signal?.throwIfAborted()
    result = await ambient.run({ journal: host.journal, operation: id, context }, () =>
      within(span, () => run({ id, start, progress })),
    )
    facts = options.finish?.(result) ?? {}
  } catch (error) {
    await finish(endingOfError(error, options.signal), refusalOf(error))
    throw error
  }
  await finish(endingOfResult(facts), facts)
  return result
}

async function finishOperation(
  host: OperationHost,
  span: OpenSpan,
  op: string,
  context: EventContext,
  began: number,
  ending: Ending,
  facts: FinishData,
): Promise<void> {
  const durationMs = Math.round((performance.now() - began) * 1_000) / 1_000
  endSpan(span, spanFacts(op, ending, facts), !ending.ok)
  const data = { ...facts, op, ...ending, durationMs }
  await host.append([{ ...context, type: 'operation.finished', data }])
}

/** Every answer is on record before the operation runs. */
async function passGates(
  gates: Gates,
  start: JournalEvent,
  progress: (data: { readonly [key: string]: unknown }) => Promise<void>,
  signal: AbortSignal | undefined,
): Promise<void> {
  for await (const judgement of gates.ask(start, signal)) {
    await progress({ ...judgement })
    if (judgement.answer === 'allow') continue
    signal?.throwIfAborted()
    const why = judgement.reason === undefined ? '' : `: ${judgement.reason}`
    throw new VitrineError('gate_refused', `The gate "${judgement.gate}" refused${why}.`, {
      details: { gate: judgement.gate, ...(judgement.reason !== undefined && { reason: judgement.reason }) },
    })
  }
}

function refusalOf(error: unknown): FinishData {
  if (!(error instanceof VitrineError) || error.code !== 'gate_refused') return {}
  const { gate, reason } = error.details
  return { gate, ...(reason !== undefined && { reason }) }
}
