import { byteLength } from '../../byte-length.ts'
import { type Fields, numberIn, textIn, textsIn } from '../../fields.ts'
import { commandText } from '../../subject.ts'
import { sizeText } from '../size.ts'
import { endingText, endingTone } from './ending.ts'
import { type Summary, say } from './event-summary.ts'
import { longTextIn } from './long-text.ts'

export const processSummaries = {
  'process.started': (data) => {
    const pid = numberIn(data, 'pid')
    const command = textsIn(data, 'argv')
    return say('plain', command && commandText(command), pid === undefined ? undefined : `(pid ${pid})`)
  },
  'process.output': (data) => {
    const skipped = numberIn(data, 'skipped')
    return say(
      textIn(data, 'stream') === 'stderr' ? 'warn' : 'dim',
      skipped ? `(${sizeText(skipped)} skipped)` : undefined,
      outputText(data),
    )
  },
  'process.exited': (data) => say(endingTone(data), textIn(data, 'process'), endingText(data)),
} satisfies Record<string, Summary>

function outputText(data: Fields): string | undefined {
  if (textIn(data, 'encoding') === 'base64') return `(${sizeText(byteLength(data))} that are not text)`
  return longTextIn(data, 'data')?.replace(/\r?\n$/, '')
}
