import { countIn, type Fields, numberIn, textIn } from '../../fields.ts'
import { sizeText } from '../../text/size.ts'
import { durationText } from '../duration.ts'
import { compact, compactBut } from './compact.ts'
import { errorText } from './ending.ts'
import { type EventSummary, type Summarizer, summarize, type Tone } from './event-summary.ts'

const levelTones: Readonly<Record<string, Tone>> = { debug: 'dim', info: 'plain', warn: 'warn', error: 'bad' }

export const recordSummaries = {
  'journal.recovered': (data) => {
    const closed = Array.isArray(data.closed) ? data.closed.length : 0
    return summarize('warn', `closed ${closed} as interrupted:`, textIn(data, 'reason'))
  },
  'journal.trimmed': (data) => {
    const events = countIn(data, 'events') ?? 0
    const size = sizeText(countIn(data, 'bytes') ?? 0)
    return summarize('dim', `${events} of ${rangeText(data)}, ${size}:`, textIn(data, 'reason'))
  },
  'sink.failed': (data) => summarize('bad', textIn(data, 'sink'), errorText(data)),
  'sink.recovered': (data) => {
    const failedForMs = numberIn(data, 'failedForMs')
    return summarize(
      'good',
      textIn(data, 'sink'),
      failedForMs === undefined ? undefined : `after ${durationText(failedForMs)}`,
    )
  },
  'host.started': (data) => summarize('accent', textIn(data, 'version')),
  'host.stopped': (data) => summarize('plain', textIn(data, 'reason')),
  'limit.reached': (data) =>
    summarize(
      'warn',
      textIn(data, 'limit'),
      numberIn(data, 'max')?.toString(),
      compactBut(data, 'limit', 'max'),
    ),
  'log.message': (data) => {
    const level = textIn(data, 'level') ?? 'info'
    const tone = Object.hasOwn(levelTones, level) ? levelTones[level] : undefined
    return summarize(tone ?? 'plain', level, textIn(data, 'message'))
  },
  'foreign.event': (data) => summarize('plain', textIn(data, 'type'), compact(data.data)),
} satisfies Record<string, Summarizer>

/** The summary of a gap notice. */
export function gapSummary(data: Fields): EventSummary {
  const single = countIn(data, 'from') === countIn(data, 'to')
  return summarize('warn', `${rangeText(data)} ${single ? 'is' : 'are'} missing:`, textIn(data, 'reason'))
}

function rangeText(data: Fields): string {
  const from = countIn(data, 'from') ?? '?'
  const to = countIn(data, 'to') ?? '?'
  return from === to ? `event ${from}` : `events ${from}–${to}`
}
