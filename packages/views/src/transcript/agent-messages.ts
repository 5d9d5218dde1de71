import { asFields, type Fields, fieldsIn, textIn } from '../fields.ts'
import { nameIn } from './bounded.ts'
import { blobRefIn } from './content.ts'
import { addMessage } from './messages.ts'
import { removePlan, setPlan, updatePlan } from './plan.ts'
import type { TranscriptStep } from './step.ts'
import { applyToolCall } from './tool-calls.ts'
import type { Transcript } from './transcript.ts'
import { updateUsage } from './usage.ts'

/** Applies a message from the agent. Messages that a restored agent replays are already in the transcript. */
export function addAgentMessage(step: TranscriptStep, transcript: Transcript): Transcript {
  const data = asFields(step.event.data)
  if (textIn(data, 'direction') !== 'out' || data.replay === true) return transcript
  const message = fieldsIn(data, 'message')
  const params = fieldsIn(message, 'params')
  switch (textIn(message, 'method')) {
    case 'session/update':
      return sessionUpdated(step, transcript, fieldsIn(params, 'update'))
    case 'session/request_permission':
      // For some agents this is the first message about the tool call.
      return applyToolCall(step, transcript, fieldsIn(params, 'toolCall'), 'start')
    default:
      return blobRefIn(message) ? markIncomplete(step, transcript) : transcript
  }
}

/** Sets the title; null removes it. */
export function setTitle({ copy }: TranscriptStep, transcript: Transcript, data: Fields): Transcript {
  const title = nameIn(data, 'title')
  if (title === transcript.title || (title === undefined && data.title !== null)) return transcript
  const next = copy(transcript)
  if (title === undefined) delete next.title
  else next.title = title
  return next
}

function sessionUpdated(step: TranscriptStep, transcript: Transcript, update: Fields): Transcript {
  switch (textIn(update, 'sessionUpdate')) {
    case 'agent_message_chunk':
      return addMessage(step, transcript, 'assistant', update)
    case 'agent_thought_chunk':
      return addMessage(step, transcript, 'thought', update)
    case 'user_message_chunk':
      // During a turn the agent echoes the prompt, which is already in the transcript.
      return transcript.turn === undefined ? addMessage(step, transcript, 'user', update) : transcript
    case 'tool_call':
      return applyToolCall(step, transcript, update, 'start')
    case 'tool_call_update':
      return applyToolCall(step, transcript, update, 'update')
    case 'plan':
      return setPlan(step, transcript, update)
    case 'plan_update':
      return updatePlan(step, transcript, update)
    case 'plan_removed':
      return removePlan(step, transcript, update)
    case 'usage_update':
      return updateUsage(step, transcript, update)
    case 'session_info_update':
      return setTitle(step, transcript, update)
    default:
      return transcript
  }
}

/** A message of more than a megabyte is only a blob reference here, so its content is missing. */
function markIncomplete({ copy }: TranscriptStep, transcript: Transcript): Transcript {
  if (!transcript.complete) return transcript
  const next = copy(transcript)
  next.complete = false
  return next
}
