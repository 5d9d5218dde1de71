import type { Journal, Store } from '@vitrine/journal'
import type { JournalEvent } from '@vitrine/protocol'
import { allItems } from '../events/all-items.ts'
import { eventsOf, numbers, seqsOf } from '../events/coverage.ts'
import { fileChanged, message, messages, output, work } from '../events/inputs.ts'

/** A journal from which all output but the newest was trimmed, and the removed events. */
export async function trimmedJournal(
  store: Store,
): Promise<{ journal: Journal; missing: readonly JournalEvent[] }> {
  const journal = await store.journal('a')
  await journal.append(messages(3))
  for (const number of numbers(1, 5)) {
    await journal.append([output('o', number), output('o', number + 1), fileChanged('/f'), message('m')])
  }
  await journal.append([work.operation('op').start, work.operation('op').end])
  const before = eventsOf(await allItems(journal))
  await journal.trim({ events: 19 })
  const left = new Set(seqsOf(await allItems(journal)))
  return { journal, missing: before.filter(({ seq }) => !left.has(seq)) }
}
