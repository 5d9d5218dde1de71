import { numberIn, textIn } from '../../fields.ts'
import { compactBut } from './compact.ts'
import { endingText, endingTone } from './ending.ts'
import { type Summary, say } from './event-summary.ts'

export const runtimeSummaries = {
  'run.started': (data, event) => say('accent', textIn(data, 'name'), event.run),
  'run.finished': (data, event) => say(endingTone(data), event.run, endingText(data)),
  'loop.started': (data) => say('accent', textIn(data, 'name'), textIn(data, 'loop')),
  'loop.planned': (data) => say('plain', textIn(data, 'loop'), compactBut(data, 'loop')),
  'loop.iterated': (data) => {
    const iteration = numberIn(data, 'iteration')
    return say('plain', textIn(data, 'loop'), iteration === undefined ? undefined : `iteration ${iteration}`)
  },
  'loop.finished': (data) => say(endingTone(data), textIn(data, 'loop'), endingText(data)),
  'snapshot.created': (data) => say('good', textIn(data, 'snapshot')),
  'snapshot.restored': (data) => say('accent', textIn(data, 'snapshot')),
} satisfies Record<string, Summary>
