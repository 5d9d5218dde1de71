import { numberIn, textIn } from '../../fields.ts'
import { subjectOf } from '../../subject.ts'
import { sizeText } from '../../text/size.ts'
import { compactBut } from './compact.ts'
import { endingText, endingTone } from './ending.ts'
import { type Summarizer, summarize } from './event-summary.ts'

export const operationSummaries = {
  'operation.started': (data) => {
    const op = textIn(data, 'op') ?? ''
    const subject = subjectOf(data)
    return { tone: 'plain', text: subject === undefined ? op : `${op}  ${subject}` }
  },
  'operation.progress': (data) => {
    const gate = textIn(data, 'gate')
    if (gate === undefined) return summarize('dim', textIn(data, 'op'), compactBut(data, 'op', 'parent'))
    const tone = textIn(data, 'answer') === 'deny' ? 'warn' : 'dim'
    return summarize(
      tone,
      textIn(data, 'op'),
      `gate ${gate}:`,
      textIn(data, 'answer'),
      textIn(data, 'reason'),
    )
  },
  'operation.finished': (data) => {
    const bytes = numberIn(data, 'bytes')
    return summarize(
      endingTone(data),
      textIn(data, 'op'),
      endingText(data),
      bytes === undefined ? undefined : sizeText(bytes),
    )
  },
} satisfies Record<string, Summarizer>
