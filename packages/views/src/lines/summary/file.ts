import { countIn, type Fields, textIn, textsIn } from '../../fields.ts'
import { exactPath } from '../../files/exact-path.ts'
import { sizeText } from '../../text/size.ts'
import { type EventSummary, type Summarizer, summarize, type Tone } from './event-summary.ts'

export const fileSummaries = {
  'file.created': (data) => fileSummary('good', data),
  'file.changed': (data) => fileSummary('plain', data),
  'file.deleted': (data) => fileSummary('warn', data),
  'file.moved': (data) => summarize('plain', exactPath(data, 'previousPath'), '→', pathText(data)),
  'watch.ready': (data) => summarize('dim', textIn(data, 'root')),
  'watch.degraded': (data) =>
    summarize('warn', textIn(data, 'reason'), textsIn(data, 'uncovered')?.join(', ')),
} satisfies Record<string, Summarizer>

function fileSummary(tone: Tone, data: Fields): EventSummary {
  const size = countIn(data, 'size')
  return summarize(tone, pathText(data), size === undefined ? undefined : sizeText(size))
}

/** The path of a directory ends with a slash, as in `ls -F`. */
function pathText(data: Fields): string | undefined {
  const path = exactPath(data, 'path')
  return path !== undefined && textIn(data, 'kind') === 'directory' ? `${path}/` : path
}
