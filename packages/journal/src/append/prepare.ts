import {
  checkEventInput,
  type EventContext,
  type EventInput,
  type EventSource,
  type JsonObject,
  workMark,
} from '@vitrine/protocol'
import { applyPolicy } from '../policy/apply.ts'
import type { PolicyRules } from '../policy/policy.ts'
import type { Redactor } from '../redact/redactor.ts'
import type { JournalHead, NewBlob } from '../stores/contract.ts'
import { type Draft, encode } from './encode.ts'
import { type BlobRoom, blobReferences, maxFieldBytes, offloadLargeFields } from './large-fields.ts'
import type { Placement, Wish } from './plan.ts'

/** What a journal handle adds to every event it writes. */
export interface Writer {
  readonly source: EventSource
  readonly context: EventContext
}

export interface Workshop {
  readonly redactor: Redactor
  readonly policy: PolicyRules
  readonly hasRoomForBlob: BlobRoom
}

export interface Prepared {
  readonly wish: Wish
  readonly size: number
  /** Every event ends some work. */
  readonly ending: boolean
}

/** Checks all, then redacts all: a malformed event lets nothing of its batch through. */
export function prepare(inputs: readonly EventInput[], writer: Writer, workshop: Workshop): Prepared {
  for (let index = 0; index < inputs.length; index += 1) checkEventInput(inputs[index]!, index)
  return prepareRedacted(
    // The copy of an object is an object: the check above has seen that it is one.
    inputs.map((input) => ({ ...input, data: workshop.redactor.redactValue(input.data ?? {}) as JsonObject })),
    writer,
    workshop,
  )
}

/** The same for events whose data the redactor has already been over. */
export function prepareRedacted(inputs: readonly EventInput[], writer: Writer, workshop: Workshop): Prepared {
  const time = Date.now()
  const drafts: Draft[] = []
  const blobs: NewBlob[] = []
  let size = 0
  let ending = inputs.length > 0
  for (const input of inputs) {
    const draft = toDraft(input, writer, workshop, time, blobs)
    drafts.push(draft)
    size += draft.dataJson.length + 256
    if (workMark(input.type)?.edge !== 'end') ending = false
  }
  for (const blob of blobs) size += blob.bytes.byteLength
  return { wish: { blobs, place: (head, position) => place(drafts, head, position) }, size, ending }
}

function toDraft(
  input: EventInput,
  writer: Writer,
  workshop: Workshop,
  time: number,
  blobs: NewBlob[],
): Draft {
  let data = applyPolicy(input.type, (input.data ?? {}) as Draft['data'], workshop.policy)
  let dataJson = JSON.stringify(data)
  if (dataJson.length > maxFieldBytes) {
    const offloaded = offloadLargeFields(data, workshop.hasRoomForBlob)
    if (offloaded.data !== data) {
      data = offloaded.data
      dataJson = JSON.stringify(data)
      blobs.push(...offloaded.blobs)
    }
  }
  return {
    type: input.type,
    source: writer.source,
    context: mergeContext(writer.context, input, workshop.redactor),
    derived: input.derived === true,
    time,
    data,
    dataJson,
  }
}

function place(drafts: readonly Draft[], head: JournalHead, lastPosition: number): Placement {
  let { seq, hash, time } = head
  let position = lastPosition
  const entries = drafts.map((draft) => {
    seq += 1
    position += 1
    time = Math.max(time, draft.time)
    const entry = encode(draft, { position, journal: head.id, seq, time, previousHash: hash })
    hash = entry.hash
    return { entry, references: blobReferences(draft.dataJson) }
  })
  return { entries, end: { seq, hash, time } }
}

const contextKeys = ['actor', 'sandbox', 'session', 'run', 'turn', 'operation'] as const

/** In a fixed order, the event's own words before the writer's. */
function mergeContext(writer: EventContext, input: EventContext, redactor: Redactor): EventContext {
  const context: { -readonly [K in keyof EventContext]: EventContext[K] } = {}
  for (const key of contextKeys) {
    const value = input[key] ?? writer[key]
    if (value !== undefined) context[key] = redactor.redactText(value)
  }
  const trace = input.trace ?? writer.trace
  if (trace !== undefined) {
    const { traceId, spanId, parentSpanId } = trace
    context.trace = { traceId, spanId, ...(parentSpanId !== undefined && { parentSpanId }) }
  }
  return context
}
