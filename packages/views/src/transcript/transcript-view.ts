import { isGap, type JournalItem } from '@vitrine/protocol'
import { copyOnWrite } from '../copy-on-write.ts'
import { asFields } from '../fields.ts'
import { gapMayContain } from '../gaps.ts'
import { momentOf } from '../moment.ts'
import type { View } from '../view.ts'
import { addAgentMessage, setTitle } from './agent-messages.ts'
import { nameIn } from './bounded.ts'
import { endCurrentMessage } from './entries.ts'
import { checkedLimits, type TranscriptLimits } from './limits.ts'
import {
  applyPermissionRequested,
  applyPermissionResolved,
  applyQuestionRequested,
  applyQuestionResolved,
} from './requests.ts'
import type { TranscriptBatch, TranscriptStep } from './step.ts'
import { withTurnClosed } from './tool-calls.ts'
import { emptyTranscript, type Transcript } from './transcript.ts'
import { applyTurnFinished, applyTurnStarted } from './turns.ts'

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
      const batch = { copy: copyOnWrite(), limits }
      let transcript = state
      for (const item of events)
        if (isGap(item) || session === undefined || item.session === session)
          transcript = applyItem(batch, transcript, item)
      return transcript
    },
  }
}

export function applyItem(batch: TranscriptBatch, transcript: Transcript, item: JournalItem): Transcript {
  if (!isGap(item)) return applyEvent({ ...batch, event: item }, transcript)
  if (!transcript.complete || !gapMayContain(item, types)) return transcript
  return { ...transcript, complete: false }
}

function applyEvent(step: TranscriptStep, transcript: Transcript): Transcript {
  switch (step.event.type) {
    case 'agent.message':
      return addAgentMessage(step, transcript)
    case 'turn.started':
      return applyTurnStarted(step, transcript)
    case 'turn.finished':
      return applyTurnFinished(step, transcript)
    case 'permission.requested':
      return applyPermissionRequested(step, transcript)
    case 'permission.resolved':
      return applyPermissionResolved(step, transcript)
    case 'question.requested':
      return applyQuestionRequested(step, transcript)
    case 'question.resolved':
      return applyQuestionResolved(step, transcript)
    case 'session.created':
      return applySessionCreated(step, transcript)
    case 'session.updated':
      return applySessionUpdated(step, transcript)
    case 'session.closed':
      return applySessionClosed(step, transcript)
    default:
      return transcript
  }
}

function applySessionCreated(step: TranscriptStep, transcript: Transcript): Transcript {
  const agent = nameIn(asFields(step.event.data), 'agent')
  const next = step.copy(reopenSession(step, transcript))
  if (agent !== undefined) next.agent = agent
  return next
}

function applySessionUpdated(step: TranscriptStep, transcript: Transcript): Transcript {
  const data = asFields(step.event.data)
  const next = setTitle(step, transcript, data)
  return data.restored === undefined ? next : reopenSession(step, next)
}

function applySessionClosed(step: TranscriptStep, transcript: Transcript): Transcript {
  const ended = withTurnClosed(step, transcript, transcript.turn, 'unfinished')
  const next = step.copy(endCurrentMessage(step.copy, ended))
  next.closedAt = momentOf(step.event)
  return next
}

function reopenSession({ copy }: TranscriptStep, transcript: Transcript): Transcript {
  if (transcript.closedAt === undefined) return transcript
  const next = copy(transcript)
  delete next.closedAt
  return next
}
