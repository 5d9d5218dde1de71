import type { Journal } from '@vitrine/journal'
import { type EventInput, matchTypes, type RecordOptions, VitrineError } from '@vitrine/protocol'
import { checkOptions, journalOptions } from '@vitrine/protocol/options'
import { type RecordedBatches, recordable } from './recorded-batches.ts'

const isRecordable = matchTypes(recordable)

interface RecordTarget {
  readonly journal: Journal
  readonly batches: RecordedBatches
  /** Throws if the sandbox is destroyed: its runs have ended then, and none may start. */
  assertExists(): void
}

/** Appends events of the runtime to a sandbox's journal. */
export async function recordEvents(
  { journal, batches, assertExists }: RecordTarget,
  events: readonly EventInput[],
  options: RecordOptions = {},
): Promise<void> {
  checkOptions('record', journalOptions.record, options)
  const foreign = events.find(({ type }) => !isRecordable(type))
  if (foreign !== undefined) {
    const message = `record: expected ${recordable.join(', ')}, got ${foreign.type}.`
    throw new VitrineError('argument_invalid', message)
  }
  const forged = events.findIndex(({ caller }) => caller !== undefined)
  if (forged !== -1) {
    const message = `events[${forged}].caller: expected none, because only a server sets it, from the token of the call. Use actor for the person or program that asked.`
    throw new VitrineError('event_invalid', message)
  }
  const runtime = journal.as({ source: 'runtime' })
  const append = async (given: readonly EventInput[]) => {
    assertExists()
    return runtime.append(given)
  }
  if (options.id === undefined) await append(events)
  else await batches.append({ append }, options.id, events)
}
