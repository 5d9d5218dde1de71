import type { CopyOnWrite } from '../copy-on-write.ts'
import { wideEntryOf, withoutWideEntry, withWideEntry } from '../wide-table.ts'
import type { Content } from './content.ts'
import type { TranscriptStep } from './step.ts'
import type { Transcript, TranscriptEntry, TranscriptRef } from './transcript.ts'

/**
 * The entries of a transcript in order of first appearance.
 *
 * @example
 * listTranscript(transcript).filter(({ kind }) => kind === 'message')
 */
export function listTranscript(transcript: Transcript): TranscriptEntry[] {
  return transcript.entries.flatMap((ref) => transcriptEntry(transcript, ref) ?? [])
}

/**
 * The entry for a reference of `entries`.
 *
 * @example
 * transcriptEntry(transcript, { kind: 'toolCall', id: 'call_1' })?.changedAt
 */
export function transcriptEntry(
  transcript: Transcript,
  { kind, id }: TranscriptRef,
): TranscriptEntry | undefined {
  switch (kind) {
    case 'message':
      return wideEntryOf(transcript.messages, id)
    case 'thought':
      return wideEntryOf(transcript.thoughts, id)
    case 'toolCall':
      return wideEntryOf(transcript.toolCalls, id)
    case 'permission':
      return wideEntryOf(transcript.permissions, id)
    case 'question':
      return wideEntryOf(transcript.questions, id)
  }
}

/** The transcript with this entry: appended if it is new, replaced in place if it is known. */
export function withTranscriptEntry(
  step: TranscriptStep,
  transcript: Transcript,
  entry: TranscriptEntry,
  added?: Content,
): Transcript {
  const { copy, limits } = step
  const { kind, id } = entry
  const known = transcriptEntry(transcript, entry)
  step.onEntry?.(entry, known, added)
  const next = copy(
    known === undefined ? endCurrentMessage(copy, transcript) : endMessageWithoutId(copy, transcript),
  )
  next.chars += entry.chars - (known?.chars ?? 0)
  switch (kind) {
    case 'message':
      next.messages = withWideEntry(copy, next.messages, id, entry)
      break
    case 'thought':
      next.thoughts = withWideEntry(copy, next.thoughts, id, entry)
      break
    case 'toolCall':
      next.toolCalls = withWideEntry(copy, next.toolCalls, id, entry)
      break
    case 'permission':
      next.permissions = withWideEntry(copy, next.permissions, id, entry)
      break
    case 'question':
      next.questions = withWideEntry(copy, next.questions, id, entry)
      break
  }
  if (known === undefined) {
    const entries = copy(next.entries)
    entries.push({ kind, id })
    next.entries = entries
  }
  let bounded: Transcript = next
  // The newest entry always stays, since further chunks are added to it.
  while (
    bounded.entries.length > 1 &&
    (bounded.entries.length > limits.maxEntries || bounded.chars > limits.maxChars)
  ) {
    bounded = withoutOldest(copy, bounded)
  }
  return bounded
}

/** The next chunk starts a new message, even from the same speaker. */
export function endCurrentMessage(copy: CopyOnWrite, transcript: Transcript): Transcript {
  if (transcript.speaking === undefined) return transcript
  const next = copy(transcript)
  delete next.speaking
  return next
}

/** After another entry, only a chunk with a message id can continue its message. */
export function endMessageWithoutId(copy: CopyOnWrite, transcript: Transcript): Transcript {
  return transcript.speaking?.messageId === undefined ? endCurrentMessage(copy, transcript) : transcript
}

function withoutOldest(copy: CopyOnWrite, transcript: Transcript): Transcript {
  const next = copy(transcript)
  const entries = copy(transcript.entries)
  next.entries = entries
  const ref = entries.shift()
  const entry = ref && transcriptEntry(transcript, ref)
  if (entry === undefined) return next
  const { kind, id } = entry
  next.chars -= entry.chars
  next.dropped += 1
  switch (kind) {
    case 'message':
      next.messages = withoutWideEntry(copy, next.messages, id)
      break
    case 'thought':
      next.thoughts = withoutWideEntry(copy, next.thoughts, id)
      break
    case 'toolCall':
      next.toolCalls = withoutWideEntry(copy, next.toolCalls, id)
      if (wideEntryOf(next.reused, entry.toolCallId) === id) {
        next.reused = withoutWideEntry(copy, next.reused, entry.toolCallId)
      }
      break
    case 'permission':
      next.permissions = withoutWideEntry(copy, next.permissions, id)
      break
    case 'question':
      next.questions = withoutWideEntry(copy, next.questions, id)
      break
  }
  return next
}
