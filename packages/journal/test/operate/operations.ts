import type { JournalEvent, JournalReader, KnownEvent } from '@vitrine/protocol'
import { eventsOf } from '../fixtures/open.ts'

export interface RecordedOperation {
  readonly started: KnownEvent<'operation.started'>
  readonly progress: readonly KnownEvent<'operation.progress'>[]
  readonly finished: KnownEvent<'operation.finished'>
}

/** The operations of a journal by `op`. Throws if one does not have exactly one start and one end. */
export async function operationsOf(journal: JournalReader): Promise<Map<string, RecordedOperation>> {
  const all = (await eventsOf(journal)).filter((event) => event.type.startsWith('operation.'))
  const byId = Map.groupBy(all, (event) => event.operation)
  return new Map([...byId.values()].map((events) => recorded(events)))
}

/** The only operation of a journal. */
export async function onlyOperation(journal: JournalReader): Promise<RecordedOperation> {
  const operations = [...(await operationsOf(journal)).values()]
  const [only] = operations
  if (only === undefined || operations.length > 1) {
    throw new Error(`Expected one operation, got ${operations.length}.`)
  }
  return only
}

function recorded(events: readonly JournalEvent[]): [string, RecordedOperation] {
  const first = events[0]
  const last = events.at(-1)
  const progress = events.slice(1, -1).filter((event) => event.type === 'operation.progress')
  if (
    first === undefined ||
    last === undefined ||
    first.type !== 'operation.started' ||
    last.type !== 'operation.finished' ||
    progress.length !== events.length - 2
  ) {
    throw new Error(`Expected one start and one end, got ${events.map(({ type }) => type).join(', ')}.`)
  }
  return [first.data.op, { started: first, progress, finished: last }]
}
