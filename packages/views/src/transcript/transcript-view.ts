import { isGap } from '@vitrine/protocol'
import { copyOnce } from '../copy-once.ts'
import { asFields } from '../fields.ts'
import { mayHide } from '../missing.ts'
import { momentOf } from '../moment.ts'
import type { View } from '../view.ts'
import { addAgentMessage, setTitle } from './agent-messages.ts'
import { nameIn } from './bounded.ts'
import { withoutSpeaker } from './entries.ts'
import { checkedLimits, type TranscriptLimits } from './limits.ts'
import { permissionRequested, permissionResolved, questionRequested, questionResolved } from './requests.ts'
import type { TranscriptStep } from './step.ts'
import { withTurnClosed } from './tool-calls.ts'
import { emptyTranscript, type Transcript } from './transcript.ts'
import { turnFinished, turnStarted } from './turns.ts'

export interface TranscriptOptions {
  /** Only events of this session; default all, for a journal of one session. */
  readonly session?: string
  readonly limits?: TranscriptLimits
}

const types = ['agent.message', 'session.*', 'turn.*', 'permission.*', 'question.*']

/**
 * The conversation of a session: messages, thoughts, tool calls, permissions and questions.
 *
 * @example
 * const transcript = rebuild(transcriptView({ session: 'ses_1' }), events)
 * for (const entry of listTranscript(transcript)) if (entry.kind === 'message') show(entry.role, entry.text)
 */
export function transcriptView(options: TranscriptOptions = {}): View<Transcript> {
  const { session } = options
  const limits = checkedLimits(options.limits ?? {})
  return {
    empty: emptyTranscript,
    add(state, events) {
      const copy = copyOnce()
      let transcript = state
      for (const item of events) {
        if (isGap(item)) {
          if (transcript.complete && mayHide(item, types)) transcript = { ...transcript, complete: false }
        } else if (session === undefined || item.session === session) {
          transcript = applyEvent({ event: item, copy, limits }, transcript)
        }
      }
      return transcript
    },
  }
}

function applyEvent(step: TranscriptStep, transcript: Transcript): Transcript {
  switch (step.event.type) {
    case 'agent.message':
      return addAgentMessage(step, transcript)
    case 'turn.started':
      return turnStarted(step, transcript)
    case 'turn.finished':
      return turnFinished(step, transcript)
    case 'permission.requested':
      return permissionRequested(step, transcript)
    case 'permission.resolved':
      return permissionResolved(step, transcript)
    case 'question.requested':
      return questionRequested(step, transcript)
    case 'question.resolved':
      return questionResolved(step, transcript)
    case 'session.created':
      return created(step, transcript)
    case 'session.updated':
      return updated(step, transcript)
    case 'session.closed':
      return closed(step, transcript)
    default:
      return transcript
  }
}

function created(step: TranscriptStep, transcript: Transcript): Transcript {
  const agent = nameIn(asFields(step.event.data), 'agent')
  const next = step.copy(reopened(step, transcript))
  if (agent !== undefined) next.agent = agent
  return next
}

function updated(step: TranscriptStep, transcript: Transcript): Transcript {
  const data = asFields(step.event.data)
  const next = setTitle(step, transcript, data)
  return data.restored === undefined ? next : reopened(step, next)
}

function closed(step: TranscriptStep, transcript: Transcript): Transcript {
  const ended = withTurnClosed(step, transcript, transcript.turn, 'unfinished')
  const next = step.copy(withoutSpeaker(step.copy, ended))
  next.closedAt = momentOf(step.event)
  return next
}

function reopened({ copy }: TranscriptStep, transcript: Transcript): Transcript {
  if (transcript.closedAt === undefined) return transcript
  const next = copy(transcript)
  delete next.closedAt
  return next
}
