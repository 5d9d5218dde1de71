import {
  type JournalEvent,
  type JournalReader,
  type KnownEvent,
  type OutputChunk,
  readPages,
} from '@vitrine/protocol'
import { eventsOf } from '../events/coverage.ts'

/** Reads all events that are in the journal now. */
export async function allEvents(
  journal: JournalReader,
  filter: { readonly types?: readonly string[]; readonly run?: string } = {},
): Promise<JournalEvent[]> {
  const found: JournalEvent[] = []
  for await (const { events } of readPages(journal, { ...filter, limit: 1_000 }))
    found.push(...eventsOf(events))
  return found
}

/** The events of all operations of one kind, grouped by operation, in the order they started. */
export function operationsOf(events: readonly JournalEvent[], op: string): JournalEvent[][] {
  const ids = events
    .filter((event) => event.type === 'operation.started' && event.data.op === op)
    .map(({ operation }) => operation)
  return ids.map((id) => events.filter(({ operation }) => operation === id))
}

export function typesOf(events: readonly JournalEvent[]): string[] {
  return events.map(({ type }) => type)
}

/** The events of one process, in order. */
export function processEvents(events: readonly JournalEvent[], process: string): JournalEvent[] {
  return events.filter(({ type, data }) => type.startsWith('process.') && data.process === process)
}

/** The id of the process that the first operation of that kind started. */
export function processOf(events: readonly JournalEvent[], op = 'exec'): string {
  const [first] = operationsOf(events, op)
  const started = first?.find((event) => event.type === 'process.started')
  if (started === undefined || started.type !== 'process.started')
    throw new Error(`No process of ${op} was started.`)
  return started.data.process
}

export function exitsOf(events: readonly JournalEvent[], process: string): KnownEvent<'process.exited'>[] {
  return events.flatMap((event) =>
    event.type === 'process.exited' && event.data.process === process ? [event] : [],
  )
}

export interface RecordedOutput {
  readonly bytes: Buffer
  readonly skipped: number
  /** The byte ranges that are missing, as start and end offsets. */
  readonly holes: readonly (readonly [number, number])[]
}

/** One output stream of a process as recorded in the journal. Throws if an offset does not match the bytes before it. */
export function recordedOutput(
  events: readonly JournalEvent[],
  process: string,
  stream: OutputChunk['stream'] = 'stdout',
): RecordedOutput {
  const parts: Buffer[] = []
  const holes: [number, number][] = []
  let at = 0
  let skipped = 0
  for (const event of events) {
    if (event.type !== 'process.output' || event.data.process !== process || event.data.stream !== stream)
      continue
    const { offset, data, encoding, skipped: left = 0 } = event.data
    if (typeof data !== 'string') throw new Error('Output was put into a blob.')
    const bytes = Buffer.from(data, encoding)
    if (offset !== at + left) throw new Error(`Output at ${offset} follows ${at} with ${left} skipped.`)
    if (left > 0) holes.push([at, offset])
    skipped += left
    parts.push(bytes)
    at = offset + bytes.length
  }
  return { bytes: Buffer.concat(parts), skipped, holes }
}
