import type { Outcome } from '@vitrine/protocol'
import { requireWholeNumber } from '@vitrine/protocol/primitives'
import { escapeForTerminal } from '../text/escape-for-terminal.ts'
import { head, tail } from './bounded.ts'
import { attachmentText } from './content.ts'
import { transcriptEntry } from './entries.ts'
import type {
  Transcript,
  TranscriptEntry,
  TranscriptPermission,
  TranscriptQuestion,
  TranscriptToolCall,
  TranscriptTurn,
} from './transcript.ts'

export interface TranscriptTextOptions {
  /** Maximum length of the text, default 12,000. */
  readonly maxChars?: number
}

interface Paragraph {
  readonly label: string
  readonly text: string
}

const leftOut = '[Earlier parts of this conversation are left out.]'
const missing = '[Parts of this conversation are missing.]'
const separator = '\n\n'
/** Maximum length of the text of a tool call, permission, question or turn. */
const maxLine = 200

/**
 * The newest part of the conversation as text, for example for an agent that cannot restore its own session. A note
 * replaces older parts that do not fit. Further lines of a message are indented, so that a message cannot imitate the
 * label of another speaker.
 *
 * @example
 * transcriptText(transcript, { maxChars: 4000 }) // 'User: Fix it.\n\nTool: npm test (failed)\n\nAssistant: …'
 */
export function transcriptText(transcript: Transcript, options: TranscriptTextOptions = {}): string {
  const maxChars = requireWholeNumber('maxChars', options.maxChars ?? 12_000, 0)
  const gaps = transcript.complete ? [] : [missing]
  const whole = transcript.dropped > 0 ? undefined : wholeText(transcript, gaps, maxChars)
  if (whole !== undefined) return whole
  const opening = [leftOut, ...gaps].join(' ')
  const shown: string[] = []
  let remaining = maxChars - opening.length
  for (const paragraph of newestFirst(transcript)) {
    remaining -= separator.length
    const part = fitted(paragraph, remaining)
    if (part === undefined) break
    shown.push(part)
    remaining -= part.length
  }
  return head([opening, ...shown.reverse()].join(separator), maxChars)
}

/** The whole text, or `undefined` if it is too long. */
function wholeText(transcript: Transcript, opening: readonly string[], maxChars: number): string | undefined {
  const shown: string[] = []
  let remaining = maxChars - opening.join('').length
  for (const paragraph of newestFirst(transcript)) {
    const part = written(paragraph)
    shown.push(part)
    remaining -= part.length
    if (remaining < 0) return undefined
  }
  const text = [...opening, ...shown.reverse()].join(separator)
  return text.length <= maxChars ? text : undefined
}

/** A paragraph, cut to its end if it does not fit. */
function fitted({ label, text }: Paragraph, remaining: number): string | undefined {
  const all = written({ label, text })
  if (all.length <= remaining) return all
  const part = tail(text, remaining - label.length - ': …'.length)
  return part === '' ? undefined : `${label}: …${part}`
}

function written({ label, text }: Paragraph): string {
  return `${label}: ${text}`
}

function* newestFirst(transcript: Transcript): Generator<Paragraph> {
  const unlisted = new Map(transcript.turns.map((turn) => [turn.id, turn]))
  for (let index = transcript.entries.length - 1; index >= 0; index -= 1) {
    const ref = transcript.entries[index]
    const entry = ref && transcriptEntry(transcript, ref)
    if (entry === undefined) continue
    const turn = unlisted.get(entry.turn ?? '')
    if (turn !== undefined) {
      unlisted.delete(turn.id)
      yield* paragraph('Turn', turnText(turn))
    }
    yield* entryParagraph(entry)
  }
}

function entryParagraph(entry: TranscriptEntry): Paragraph[] {
  switch (entry.kind) {
    case 'message':
      return paragraph(
        entry.role === 'user' ? 'User' : 'Assistant',
        indented([entry.text, ...(entry.attachments ?? []).map(attachmentText)].filter(Boolean).join('\n')),
      )
    case 'thought':
      return []
    case 'toolCall':
      return paragraph('Tool', toolText(entry))
    case 'permission':
      return paragraph('Permission', permissionText(entry))
    case 'question':
      return paragraph('Question', questionText(entry))
  }
}

function paragraph(label: string, text: string | undefined): Paragraph[] {
  return text ? [{ label, text }] : []
}

function indented(text: string): string {
  return text
    .split(/\r\n|[\n\v\f\r\u0085\u2028\u2029]/)
    .map((line, index) => (index === 0 || line === '' ? line : `  ${line}`))
    .join('\n')
}

function toolText({ title, name, toolKind, subject, status }: TranscriptToolCall): string {
  const what = title ?? name ?? toolKind ?? ''
  const text = subject === undefined || what.includes(subject) ? what : `${what} ${subject}`
  return `${escapeForTerminal(text.trim() || 'unnamed', maxLine)} (${status})`
}

/** A granted permission is omitted: the tool call shows it. */
function permissionText({ title, resolvedAt, answer, outcome }: TranscriptPermission): string | undefined {
  if (answer?.startsWith('allow')) return undefined
  const end = resolvedAt === undefined ? 'not answered' : (answer ?? outcome ?? 'answered')
  return escapeForTerminal(`${title ?? 'to use a tool'} (${end})`, maxLine)
}

function questionText({ message, resolvedAt, action, outcome, content }: TranscriptQuestion): string {
  const end = resolvedAt === undefined ? 'not answered' : (action ?? outcome ?? 'answered')
  const answer = content === undefined ? '' : ` ${escapeForTerminal(JSON.stringify(content), maxLine)}`
  return `${escapeForTerminal(message ?? '', maxLine)} (${end}${answer})`.trim()
}

const endings: Readonly<Record<Outcome, string | undefined>> = {
  ok: undefined,
  failed: 'failed',
  cancelled: 'was cancelled',
  timeout: 'took too long',
  interrupted: 'was interrupted',
}

/** Empty for a turn that ended with `ok`. */
function turnText({ outcome, errorCode, errorMessage, modelError }: TranscriptTurn): string | undefined {
  const parts = [
    outcome && endings[outcome],
    [errorCode, errorMessage].filter(Boolean).join(': '),
    modelError && `the model failed${modelError.text === undefined ? '' : `: ${modelError.text}`}`,
  ]
  return escapeForTerminal(parts.filter(Boolean).join(', '), maxLine)
}
