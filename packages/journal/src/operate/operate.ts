import {
  checkEventInput,
  type EventContext,
  type EventInput,
  isVitrineError,
  type JournalEvent,
  newId,
  VitrineError,
} from '@vitrine/protocol'
import type { Gates } from '../gates/gates.ts'
import { currentOperation } from './current-operation.ts'
import { endingOfError, endingOfResult, type FinishData, type OperationEnd, spanFacts } from './outcome.ts'
import { endSpan, inSpan, type OpenSpan, openSpan } from './trace.ts'

/** The running operation, as passed to its function. */
export interface Operation {
  readonly id: string
  /** The started event, as it was committed. */
  readonly start: JournalEvent
  /** Appends `operation.progress`. Resolves once it is committed. */
  progress(data: { readonly [key: string]: unknown }): Promise<void>
}

export interface OperateOptions<T> {
  /** Derives the data of `operation.finished` from the result: exit code, bytes, outcome. */
  readonly finish?: (result: T) => FinishData
  readonly signal?: AbortSignal
  /** A W3C traceparent header: the operation joins the caller's trace. */
  readonly traceparent?: string
}

/** The parts of a journal that `operate` uses. */
export interface OperationHost {
  readonly journal: string
  readonly backend: string
  readonly context: EventContext
  readonly gates: Gates
  append(events: readonly EventInput[]): Promise<readonly JournalEvent[]>
  /** A tracer observes: its error is reported and affects nothing. */
  onTracerError(error: unknown): void
}

/**
 * The only function that writes `operation.started` and `operation.finished`. It asks the gates, opens the span,
 * and settles only after the finish is committed. Operations started inside `run` become children.
 */
export async function operate<T>(
  host: OperationHost,
  op: string,
  data: { readonly [key: string]: unknown },
  run: (operation: Operation) => T | Promise<T>,
  options: OperateOptions<T> = {},
): Promise<T> {
  const opened = openOperation(host, op, data, run, options.traceparent)
  const { id, span, context, started } = opened
  let start: JournalEvent
  try {
    const [event] = await host.append([started])
    start = event!
  } catch (error) {
    endSpan(span, spanFacts(op, endingOfError(error, undefined), {}), 'failed', host.onTracerError)
    throw error
  }
  const finish = (ending: OperationEnd, facts: FinishData) => finishOperation(host, opened, ending, facts)
  const progress = async (details: { readonly [key: string]: unknown }) => {
    await host.append([{ ...context, type: 'operation.progress', data: { ...details, op } }])
  }

  let result: T
  let facts: FinishData
  let ending: OperationEnd
  try {
    options.signal?.throwIfAborted()
    if (host.gates.size > 0) await passGates(host.gates, start, progress, options.signal)
    options.signal?.throwIfAborted()
    result = await currentOperation.run({ journal: host.journal, operation: id, op, context, span }, () =>
      inSpan(span, () => run({ id, start, progress })),
    )
    // Copied once, because a getter could throw when it is read again.
    facts = { ...options.finish?.(result) }
    ending = endingOfResult(facts)
  } catch (error) {
    await finish(endingOfError(error, options.signal), refusalOf(error))
    throw error
  }
  await finish(ending, facts)
  return result
}

/**
 * Like `operate` for a synchronous, read-only call: its start and its end are one commit, and it returns its result
 * after that. If there are gates, it is `operate`.
 */
export async function operateInOneCommit<T>(
  host: OperationHost,
  op: string,
  data: { readonly [key: string]: unknown },
  run: () => T,
  options: OperateOptions<T> = {},
): Promise<T> {
  if (host.gates.size > 0) return operate(host, op, data, run, options)
  const opened = openOperation(host, op, data, run, options.traceparent)
  let result: T
  let facts: FinishData
  let ending: OperationEnd
  try {
    options.signal?.throwIfAborted()
    result = inSpan(opened.span, run)
    facts = { ...options.finish?.(result) }
    ending = endingOfResult(facts)
  } catch (error) {
    await finishOperation(host, opened, endingOfError(error, options.signal), {}, [opened.started])
    throw error
  }
  await finishOperation(host, opened, ending, facts, [opened.started])
  return result
}

interface OpenedOperation {
  readonly op: string
  readonly id: string
  readonly span: OpenSpan
  readonly context: EventContext
  readonly started: EventInput
  readonly startedAt: number
}

function openOperation(
  host: OperationHost,
  op: string,
  data: { readonly [key: string]: unknown },
  run: unknown,
  traceparent: string | undefined,
): OpenedOperation {
  if (typeof run !== 'function')
    throw new VitrineError('argument_invalid', `operate "${op}": expected a function to run.`)
  const outer = currentOperation.getStore()
  const parent = outer?.journal === host.journal ? outer : undefined
  const id = newId('operation')
  const facts = { ...data, op, ...(parent && { parent: parent.operation }) }
  // Checked before the span is opened: a rejected event must not appear in a trace either.
  checkEventInput({ ...host.context, type: 'operation.started', data: facts })
  const sandbox = host.context.sandbox ?? host.journal
  const attributes = {
    'sandbox.backend': host.backend,
    'sandbox.operation': op,
    'sandbox.session.id': sandbox,
    session_id: sandbox,
  }
  const span = openSpan(`sandbox.${op}`, attributes, outer?.span, traceparent, host.onTracerError)
  const context: EventContext = { ...parent?.context, ...host.context, operation: id, trace: span.ids }
  const started = { ...context, type: 'operation.started', data: facts }
  return { op, id, span, context, started, startedAt: performance.now() }
}

/**
 * Appends the end, after the events in `before`, and closes the span. If the finish data is malformed, the end is
 * written without it.
 */
async function finishOperation(
  host: OperationHost,
  { op, span, context, startedAt: began }: OpenedOperation,
  ending: OperationEnd,
  facts: FinishData,
  before: readonly EventInput[] = [],
): Promise<void> {
  const durationMs = Math.round((performance.now() - began) * 1_000) / 1_000
  const write = (how: OperationEnd, details: FinishData) => {
    const data = { ...details, op, ...how, durationMs }
    return host.append([...before, { ...context, type: 'operation.finished', data }])
  }
  let written = { ending, facts }
  try {
    await write(ending, facts)
  } catch (error) {
    if (!isVitrineError(error) || error.code !== 'event_invalid') throw error
    written = { ending: endingOfError(error, undefined), facts: {} }
    await write(written.ending, {})
    throw error
  } finally {
    const status = written.ending.ok ? 'ok' : 'failed'
    endSpan(span, spanFacts(op, written.ending, written.facts), status, host.onTracerError)
  }
}

/** Records each gate's answer before the operation runs. */
async function passGates(
  gates: Gates,
  start: JournalEvent,
  progress: (data: { readonly [key: string]: unknown }) => Promise<void>,
  signal: AbortSignal | undefined,
): Promise<void> {
  for await (const decision of gates.decisions(start, signal)) {
    await progress({ ...decision })
    if (decision.answer === 'allow') continue
    signal?.throwIfAborted()
    const why = decision.reason === undefined ? '' : `: ${decision.reason.replace(/\.$/, '')}`
    throw new VitrineError('gate_refused', `The gate "${decision.gate}" refused the operation${why}.`, {
      details: { gate: decision.gate, ...(decision.reason !== undefined && { reason: decision.reason }) },
    })
  }
}

function refusalOf(error: unknown): FinishData {
  if (!(error instanceof VitrineError) || error.code !== 'gate_refused') return {}
  const { gate, reason } = error.details
  return { gate, ...(reason !== undefined && { reason }) }
}
