import { asFields, type Fields, omitUndefined } from '../fields.ts'
import { momentOf } from '../moment.ts'
import { head, nameIn } from './bounded.ts'
import { type Content, contentOf, maxAttachments } from './content.ts'
import { transcriptEntry, withTranscriptEntry } from './entries.ts'
import { newEntry, type TranscriptStep, turnOf } from './step.ts'
import type { Transcript, TranscriptMessage, TranscriptThought } from './transcript.ts'

type TextEntry = TranscriptMessage | TranscriptThought

export type Speaker = TranscriptMessage['role'] | 'thought'

/** Adds the prompt of a turn, always as a new message. */
export function addPrompt(step: TranscriptStep, transcript: Transcript): Transcript {
  const content = contentOf(asFields(step.event.data).prompt)
  if (isEmpty(content)) return transcript
  return withTranscriptEntry(
    step,
    transcript,
    withContent(step, newTextEntry(step, transcript, 'user'), content),
    content,
  )
}

/** Adds a chunk to the current message, or starts a new one. */
export function addMessage(
  step: TranscriptStep,
  transcript: Transcript,
  speaker: Speaker,
  update: Fields,
): Transcript {
  const content = contentOf(update.content)
  if (isEmpty(content)) return transcript
  const messageId = nameIn(update, 'messageId')
  const entry =
    continuedEntry(step, transcript, speaker, messageId) ?? newTextEntry(step, transcript, speaker)
  const next = step.copy(withTranscriptEntry(step, transcript, withContent(step, entry, content), content))
  next.speaking = { kind: entry.kind, id: entry.id, ...omitUndefined({ messageId }) }
  return next
}

function continuedEntry(
  { event }: TranscriptStep,
  transcript: Transcript,
  speaker: Speaker,
  messageId: string | undefined,
): TextEntry | undefined {
  const { speaking } = transcript
  if (speaking === undefined || speaking.messageId !== messageId) return undefined
  const entry = transcriptEntry(transcript, speaking)
  if (entry === undefined || entry.turn !== turnOf(event, transcript)) return undefined
  if (entry.kind === 'thought') return speaker === 'thought' ? entry : undefined
  return entry.kind === 'message' && entry.role === speaker ? entry : undefined
}

function newTextEntry(step: TranscriptStep, transcript: Transcript, speaker: Speaker): TextEntry {
  const { seq } = step.event
  if (speaker === 'thought') {
    return { kind: 'thought', ...newEntry(step, transcript, `thought_${seq}`), text: '' }
  }
  return { kind: 'message', role: speaker, ...newEntry(step, transcript, `msg_${seq}`), text: '' }
}

function withContent<T extends TextEntry>(
  { event, limits }: TranscriptStep,
  entry: T,
  { text, attachments }: Content,
): T {
  const more = head(text, entry.cut ? 0 : limits.maxEntryChars - entry.chars)
  const allAttachments = [...(entry.attachments ?? []), ...attachments].slice(0, maxAttachments)
  return {
    ...entry,
    text: entry.text + more,
    chars: entry.chars + more.length,
    ...(allAttachments.length > 0 && { attachments: allAttachments }),
    ...(more.length < text.length && { cut: true }),
    changedAt: momentOf(event),
  }
}

function isEmpty({ text, attachments }: Content): boolean {
  return text === '' && attachments.length === 0
}
