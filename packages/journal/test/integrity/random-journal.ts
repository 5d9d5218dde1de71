import type { EventInput } from '@vitrine/protocol'
import fc from 'fast-check'
import type { Journal } from '../../src/index.ts'

/** Events of any kind that leave no work open. */
export const anyEvent: fc.Arbitrary<EventInput> = fc.oneof(
  fc
    .record({
      message: fc.string({ maxLength: 40 }),
      session: fc.option(id('ses')),
      run: fc.option(id('run')),
    })
    .map(
      ({ message, session, run }): EventInput => ({
        type: 'log.message',
        ...(session !== null && { session }),
        ...(run !== null && { run }),
        data: { level: 'info', message },
      }),
    ),
  fc.string({ unit: 'binary', maxLength: 40 }).map(
    (data): EventInput => ({
      type: 'process.output',
      data: { process: 'prc_1', stream: 'stdout', offset: 0, data, encoding: 'utf8' },
    }),
  ),
  fc
    .json()
    .map((data): EventInput => ({ type: 'foreign.event', data: { type: 'x', data: JSON.parse(data) } })),
)

function id(prefix: string): fc.Arbitrary<string> {
  return fc.integer({ min: 1, max: 3 }).map((number) => `${prefix}_${number}`)
}

/** Appends in groups of one to four, some in one tick and some not. */
export async function fill(journal: Journal, events: readonly EventInput[]): Promise<void> {
  const pending: Promise<unknown>[] = []
  for (let index = 0; index < events.length; ) {
    const size = 1 + (index % 4)
    pending.push(journal.append(events.slice(index, index + size)))
    index += size
    if (index % 3 === 0) await new Promise(setImmediate)
  }
  await Promise.all(pending)
}
