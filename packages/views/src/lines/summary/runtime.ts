import { numberIn, textIn } from '../../fields.ts'
import { compactBut } from './compact.ts'
import { endingText, endingTone } from './ending.ts'
import { type Summarizer, summarize } from './event-summary.ts'

export const runtimeSummaries = {
  'run.started': (data, event) => {
    const continued = textIn(data, 'continues')
    return summarize('accent', textIn(data, 'name'), event.run, continued && `continues ${continued}`)
  },
  'run.finished': (data, event) => summarize(endingTone(data), event.run, endingText(data)),
  'loop.started': (data) => summarize('accent', textIn(data, 'name'), textIn(data, 'loop')),
  'loop.planned': (data) => summarize('plain', textIn(data, 'loop'), compactBut(data, 'loop')),
  'loop.iterated': (data) => {
    const iteration = numberIn(data, 'iteration')
    return summarize(
      'plain',
      textIn(data, 'loop'),
      iteration === undefined ? undefined : `iteration ${iteration}`,
    )
  },
  'loop.finished': (data) => summarize(endingTone(data), textIn(data, 'loop'), endingText(data)),
  'snapshot.created': (data) => summarize('good', textIn(data, 'snapshot')),
  'snapshot.restored': (data) => summarize('accent', textIn(data, 'snapshot')),
} satisfies Record<string, Summarizer>
