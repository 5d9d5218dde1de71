import type { EventFilter, EventInput, JournalEvent } from '@vitrine/protocol'
import fc from 'fast-check'

/** Search texts that match or do not match, with characters that SQL and JSON treat specially. */
const words = [
  ...['needle', 'NEEDLE', 'Needle and thread', '100%', '100', 'under_score', 'underXscore', 'back\\slash'],
  ...[
    'quo"te',
    "it's",
    'line\nbreak',
    'tab\t',
    'Grüße',
    'GRÜSSE',
    'grüsse',
    'ÄÖ',
    'äö',
    '🙂 smile',
    '',
    '*',
    '?',
  ],
  ...['\u0001 control', 'K (kelvin)', 'k (kelvin)', 'ſ', 's', '[a-z]', '\u2028'],
]

const contexts = [
  {},
  { session: 'ses_1' },
  { session: 'ses_2' },
  { session: 'ses_1', run: 'run_1' },
  { run: 'run_2' },
]

/** Events of several families, sessions and runs, with texts that are hard to search. */
export function mixedEvents(count: number): EventInput[] {
  return Array.from({ length: count }, (_, index): EventInput => {
    const word = words[index % words.length]!
    const context = contexts[(index * 7) % contexts.length]!
    switch (index % 5) {
      case 0:
        return { type: 'file.created', ...context, data: { path: word, kind: 'file' } }
      case 1:
        return { type: 'file.changed', ...context, data: { path: 'a', kind: 'file', [`key ${word}`]: 1 } }
      case 2:
        return { type: 'sandbox.ready', ...context, data: { nested: [{ deep: word }] } }
      case 3:
        return { type: 'desktop.file', ...context, data: { word } }
      default:
        return { type: 'log.message', ...context, data: { level: 'info', message: word } }
    }
  })
}

const types = ['file.created', 'file.changed', 'sandbox.ready', 'log.message', 'desktop.file', 'no.such']
const patterns = [...types, 'file.*', 'desktop.*', 'sandbox.*', 'fil.*', 'file', '*', '.*', 'file.c*', '']

export const filters: fc.Arbitrary<EventFilter> = fc.record(
  {
    types: fc.array(fc.constantFrom(...patterns), { maxLength: 3 }),
    session: fc.constantFrom('ses_1', 'ses_2', 'ses_3', ''),
    run: fc.constantFrom('run_1', 'run_2', 'run_3'),
    text: fc.oneof(
      fc.constantFrom(
        ...words,
        'needle',
        'eedl',
        'file',
        '"path"',
        'ses_1',
        '%',
        '_',
        '\\',
        '\\n',
        '"',
        '{"',
        'x',
      ),
      fc.string({ unit: 'binary', maxLength: 3 }),
    ),
  },
  { requiredKeys: [] },
)

/** A simple reference implementation of the filter. */
export function naiveMatch({ types: wanted, session, run, text }: EventFilter, event: JournalEvent): boolean {
  const isType = (pattern: string) =>
    pattern === '*' ||
    pattern === event.type ||
    (pattern.endsWith('.*') && event.type.startsWith(pattern.slice(0, -1)))
  const lower = (value: string) => value.replace(/[A-Z]/g, (letter) => letter.toLowerCase())
  return (
    (wanted === undefined || wanted.some(isType)) &&
    (session === undefined || event.session === session) &&
    (run === undefined || event.run === run) &&
    (text === undefined || lower(JSON.stringify(event)).includes(lower(JSON.stringify(text).slice(1, -1))))
  )
}
