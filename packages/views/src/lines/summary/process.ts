import { byteLength } from '../../byte-length.ts'
import { type Fields, numberIn, textIn, textsIn } from '../../fields.ts'
import { commandText } from '../../subject.ts'
import { longTextIn } from '../../text/long-text.ts'
import { sizeText } from '../../text/size.ts'
import { endingText, endingTone } from './ending.ts'
import { type Summarizer, summarize } from './event-summary.ts'

export const processSummaries = {
  'process.started': (data) => {
    const pid = numberIn(data, 'pid')
    const command = textsIn(data, 'argv')
    return summarize('plain', command && commandText(command), pid === undefined ? undefined : `(pid ${pid})`)
  },
  'process.output': (data) => {
    const skipped = numberIn(data, 'skipped')
    return summarize(
      textIn(data, 'stream') === 'stderr' ? 'warn' : 'dim',
      skipped ? `(${sizeText(skipped)} skipped)` : undefined,
      outputText(data),
    )
  },
  'process.exited': (data) => summarize(endingTone(data), textIn(data, 'process'), endingText(data)),
} satisfies Record<string, Summarizer>

function outputText(data: Fields): string | undefined {
  if (textIn(data, 'encoding') === 'base64') return `(${sizeText(byteLength(data))} that are not text)`
  return longTextIn(data, 'data')?.replace(/\r?\n$/, '')
}
