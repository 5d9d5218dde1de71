import {
  checkEventInput,
  type EventContext,
  type EventInput,
  type EventSource,
  type JsonObject,
  VitrineError,
  workId,
  workMark,
} from '@vitrine/protocol'
import type { Entry } from '../entry.ts'
import { applyPolicy } from '../policy/apply.ts'
import type { PolicyRules } from '../policy/policy.ts'
import type { Redactor } from '../redact/redactor.ts'
import type { JournalHead, NewBlob } from '../stores/contract.ts'
import { type EncodedContext, type EventDraft, encode, encodeContext } from './encode.ts'
import { blobReferences, isTooLarge, offloadLargeFields, type ReserveBlobSpace } from './large-fields.ts'
import type { BlobReference, CommitRequest, Placement } from './plan.ts'

/** The source and context that a journal handle adds to every event it appends. */
export interface EventWriter {
  readonly source: EventSource
  readonly context: EventContext
  /** The operation that it belongs to, by its name: its payload policy holds. */
  readonly op?: string
}

/** The steps that every append passes before it is committed. */
export interface AppendStages {
  readonly redactor: Redactor
  readonly policy: PolicyRules
  readonly reserveBlobSpace: ReserveBlobSpace
}

/** Checks all events before it redacts any: a malformed event rejects its whole batch. */
export function prepare(
  inputs: readonly EventInput[],
  writer: EventWriter,
  stages: AppendStages,
): PreparedAppend {
  if (!Array.isArray(inputs)) {
    throw new VitrineError(
      'argument_invalid',
      'append: expected an array of events, such as [{ type, data }].',
    )
  }
  for (let index = 0; index < inputs.length; index += 1) checkEventInput(inputs[index]!, index)
  const append = new PreparedAppend()
  for (const input of inputs) {
    // The check above made sure that `data` is an object, and the copy of an object is an object.
    const data = stages.redactor.redactValue(input.data ?? {}) as JsonObject
    append.add(input, applyPolicy(input.type, data, stages.policy, writer.op), writer, stages)
  }
  return append
}

/** Like `prepare`, for events whose data is already checked, redacted and reduced by the policy. */
export function prepareRedacted(
  inputs: readonly EventInput[],
  writer: EventWriter,
  stages: AppendStages,
): PreparedAppend {
  const append = new PreparedAppend()
  for (const input of inputs) append.add(input, (input.data ?? {}) as JsonObject, writer, stages)
  return append
}

const noBlobs: readonly NewBlob[] = []
const noReferences: readonly BlobReference[] = []

/** Events that are ready to get their `seq`, position and hash. */
export class PreparedAppend implements CommitRequest {
  readonly drafts: EventDraft[] = []
  readonly time = Date.now()
  blobs: readonly NewBlob[] = noBlobs
  /** The approximate memory they use while they wait. */
  size = 0
  /** Whether every event ends some work. */
  ending = true
  endedIds: Map<number, string> | undefined
  #last:
    | { readonly writer: EventContext; readonly input: EventContext; readonly context: EncodedContext }
    | undefined

  add(input: EventInput, given: JsonObject, writer: EventWriter, stages: AppendStages): void {
    let data = given
    let dataJson = JSON.stringify(data)
    if (isTooLarge(dataJson)) {
      const offloaded = offloadLargeFields(data, dataJson, stages.reserveBlobSpace)
      data = offloaded.data
      dataJson = offloaded.dataJson
      this.attachBlobs(offloaded.blobs)
    }
    this.size += dataJson.length + 256
    const mark = workMark(input.type)
    if (mark?.edge !== 'end') this.ending = false
    else this.#rememberEnd(workId(mark.kind, { ...writer.context, ...input }))
    const context = this.#contextOf(writer.context, input, stages.redactor)
    const derived = input.derived === true
    this.drafts.push({ type: input.type, source: writer.source, context, derived, data, dataJson })
  }

  #contextOf(writer: EventContext, input: EventContext, redactor: Redactor): EncodedContext {
    const last = this.#last
    if (last !== undefined && last.writer === writer && isSameContext(last.input, input)) return last.context
    const context = encodeContext(mergeContext(writer, input, redactor))
    this.#last = { writer, input, context }
    return context
  }

  /** Adds blobs that are stored in the same transaction as the events. */
  attachBlobs(blobs: readonly NewBlob[]): void {
    if (blobs.length === 0) return
    this.blobs = [...this.blobs, ...blobs]
    for (const { bytes } of blobs) this.size += bytes.byteLength
  }

  #rememberEnd(id: string | undefined): void {
    if (id === undefined) return
    this.endedIds ??= new Map()
    this.endedIds.set(this.drafts.length, id)
  }

  place(head: JournalHead, lastPosition: number): Placement {
    const time = Math.max(head.time, this.time)
    const entries: Entry[] = []
    let { seq, hash } = head
    let references: BlobReference[] | undefined
    for (const draft of this.drafts) {
      seq += 1
      const entry = encode(draft, lastPosition + entries.length + 1, head.id, seq, time, hash)
      hash = entry.hash
      entries.push(entry)
      for (const blob of blobReferences(draft.dataJson)) {
        references ??= []
        references.push({ seq, blob })
      }
    }
    return {
      entries,
      references: references ?? noReferences,
      seq,
      hash,
      time,
      position: lastPosition + entries.length,
    }
  }
}

function isSameContext(a: EventContext, b: EventContext): boolean {
  return (
    a.session === b.session &&
    a.turn === b.turn &&
    a.operation === b.operation &&
    a.caller === b.caller &&
    a.actor === b.actor &&
    a.sandbox === b.sandbox &&
    a.run === b.run &&
    a.trace === b.trace
  )
}

/** Merges in a fixed order; the event's own fields win. Written without a loop because it runs for every event. */
function mergeContext(writer: EventContext, input: EventContext, redactor: Redactor): EventContext {
  const context: { -readonly [K in keyof EventContext]: EventContext[K] } = {}
  const caller = input.caller ?? writer.caller
  if (caller !== undefined) context.caller = redactor.redactText(caller)
  const actor = input.actor ?? writer.actor
  if (actor !== undefined) context.actor = redactor.redactText(actor)
  const sandbox = input.sandbox ?? writer.sandbox
  if (sandbox !== undefined) context.sandbox = redactor.redactText(sandbox)
  const session = input.session ?? writer.session
  if (session !== undefined) context.session = redactor.redactText(session)
  const run = input.run ?? writer.run
  if (run !== undefined) context.run = redactor.redactText(run)
  const turn = input.turn ?? writer.turn
  if (turn !== undefined) context.turn = redactor.redactText(turn)
  const operation = input.operation ?? writer.operation
  if (operation !== undefined) context.operation = redactor.redactText(operation)
  const trace = input.trace ?? writer.trace
  if (trace !== undefined) {
    const { traceId, spanId, parentSpanId } = trace
    context.trace = parentSpanId === undefined ? { traceId, spanId } : { traceId, spanId, parentSpanId }
  }
  return context
}
