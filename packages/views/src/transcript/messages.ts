import { asFields, type Fields, present } from '../fields.ts'
import { momentOf } from '../moment.ts'
import { head, nameIn } from './bounded.ts'
import { type Content, contentOf, maxAttachments } from './content.ts'
import { transcriptEntry, withTold } from './entries.ts'
import { newEntry, type Step, turnOf } from './step.ts'
import type { Transcript, TranscriptMessage, TranscriptThought } from './transcript.ts'

type Speech = TranscriptMessage | TranscriptThought

export type Voice = TranscriptMessage['role'] | 'thought'

/** The prompt of a turn: a message of its own, whatever came before. */
export function prompted(step: Step, transcript: Transcript): Transcript {
  const content = contentOf(asFields(step.event.data).prompt)
  if (isEmpty(content)) return transcript
  return withTold(step, transcript, grown(step, begunSpeech(step, transcript, 'user'), content))
}

/** A chunk: more of what is being said, or the beginning of something else. */
export function addMessage(step: Step, transcript: Transcript, voice: Voice, update: Fields): Transcript {
  const content = contentOf(update.content)
  if (isEmpty(content)) return transcript
  const messageId = nameIn(update, 'messageId')
  const speech = goingOn(step, transcript, voice, messageId) ?? begunSpeech(step, transcript, voice)
  const next = step.copy(withTold(step, transcript, grown(step, speech, content)))
  next.speaking = { kind: speech.kind, id: speech.id, ...present({ messageId }) }
  return next
}

function goingOn(
  { event }: Step,
  transcript: Transcript,
  voice: Voice,
  messageId: string | undefined,
): Speech | undefined {
  const { speaking } = transcript
  if (speaking === undefined || speaking.messageId !== messageId) return undefined
  const entry = transcriptEntry(transcript, speaking)
  if (entry === undefined || entry.turn !== turnOf(event, transcript)) return undefined
  if (entry.kind === 'thought') return voice === 'thought' ? entry : undefined
  return entry.kind === 'message' && entry.role === voice ? entry : undefined
}

function begunSpeech(step: Step, transcript: Transcript, voice: Voice): Speech {
  const { seq } = step.event
  if (voice === 'thought') {
    return { kind: 'thought', ...newEntry(step, transcript, `thought_${seq}`), text: '' }
  }
  return { kind: 'message', role: voice, ...newEntry(step, transcript, `msg_${seq}`), text: '' }
}

function grown<T extends Speech>({ event, limits }: Step, speech: T, { text, attachments }: Content): T {
  const more = head(text, speech.cut ? 0 : limits.maxEntryChars - speech.chars)
  const attached = [...(speech.attachments ?? []), ...attachments].slice(0, maxAttachments)
  return {
    ...speech,
    text: speech.text + more,
    chars: speech.chars + more.length,
    ...(attached.length > 0 && { attachments: attached }),
    ...(more.length < text.length && { cut: true }),
    changedAt: momentOf(event),
  }
}

function isEmpty({ text, attachments }: Content): boolean {
  return text === '' && attachments.length === 0
}
