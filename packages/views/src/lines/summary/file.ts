import { countIn, type Fields, textIn, textsIn } from '../../fields.ts'
import { exactPath } from '../../files/exact-path.ts'
import { sizeText } from '../size.ts'
import { type EventSummary, type Summary, say, type Tone } from './event-summary.ts'

export const fileSummaries = {
  'file.created': (data) => fileSaid('good', data),
  'file.changed': (data) => fileSaid('plain', data),
  'file.deleted': (data) => fileSaid('warn', data),
  'file.moved': (data) => say('plain', exactPath(data, 'previousPath'), '→', pathText(data)),
  'watch.ready': (data) => say('dim', textIn(data, 'root')),
  'watch.degraded': (data) => say('warn', textIn(data, 'reason'), textsIn(data, 'uncovered')?.join(', ')),
} satisfies Record<string, Summary>

function fileSaid(tone: Tone, data: Fields): EventSummary {
  const size = countIn(data, 'size')
  return say(tone, pathText(data), size === undefined ? undefined : sizeText(size))
}

/** A directory ends with a slash, as `ls -F` has it. */
function pathText(data: Fields): string | undefined {
  const path = exactPath(data, 'path')
  return path !== undefined && textIn(data, 'kind') === 'directory' ? `${path}/` : path
}
