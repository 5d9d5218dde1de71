import type { Journal } from '@vitrine/journal'
import { type EventInput, matchTypes, type RecordOptions, VitrineError } from '@vitrine/protocol'
import { checkOptions, journalOptions } from '@vitrine/protocol/options'
import { type RecordedBatches, recordable } from './recorded-batches.ts'

const isRecordable = matchTypes(recordable)

/** Appends events of the runtime to a sandbox's journal. */
export async function recordEvents(
  { journal, batches }: { readonly journal: Journal; readonly batches: RecordedBatches },
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
  if (options.id === undefined) await runtime.append(events)
  else await batches.append(runtime, options.id, events)
}
