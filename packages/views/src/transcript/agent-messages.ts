import { asFields, type Fields, fieldsIn, textIn } from '../fields.ts'
import { nameIn } from './bounded.ts'
import { blobRefIn } from './content.ts'
import { addMessage } from './messages.ts'
import { planned, planRemoved, planUpdated } from './plan.ts'
import type { Step } from './step.ts'
import { toolCallTold } from './tool-calls.ts'
import type { Transcript } from './transcript.ts'
import { usageUpdated } from './usage.ts'

/** What the agent sends. What it tells again after it was restored is here already. */
export function addAgentMessage(step: Step, transcript: Transcript): Transcript {
  const data = asFields(step.event.data)
  if (textIn(data, 'direction') !== 'out' || data.replay === true) return transcript
  const message = fieldsIn(data, 'message')
  const params = fieldsIn(message, 'params')
  switch (textIn(message, 'method')) {
    case 'session/update':
      return sessionUpdated(step, transcript, fieldsIn(params, 'update'))
    case 'session/request_permission':
      // The first that some agents say of a tool call at all.
      return toolCallTold(step, transcript, fieldsIn(params, 'toolCall'), 'begins')
    default:
      return blobRefIn(message) ? withoutWhole(step, transcript) : transcript
  }
}

/** A title, or null where there is none any more. */
export function setTitle({ copy }: Step, transcript: Transcript, told: Fields): Transcript {
  const title = nameIn(told, 'title')
  if (title === transcript.title || (title === undefined && told.title !== null)) return transcript
  const next = copy(transcript)
  if (title === undefined) delete next.title
  else next.title = title
  return next
}

function sessionUpdated(step: Step, transcript: Transcript, update: Fields): Transcript {
  switch (textIn(update, 'sessionUpdate')) {
    case 'agent_message_chunk':
      return addMessage(step, transcript, 'assistant', update)
    case 'agent_thought_chunk':
      return addMessage(step, transcript, 'thought', update)
    case 'user_message_chunk':
      // While a turn of ours runs, this is our own prompt coming back.
      return transcript.turn === undefined ? addMessage(step, transcript, 'user', update) : transcript
    case 'tool_call':
      return toolCallTold(step, transcript, update, 'begins')
    case 'tool_call_update':
      return toolCallTold(step, transcript, update, 'goes on')
    case 'plan':
      return planned(step, transcript, update)
    case 'plan_update':
      return planUpdated(step, transcript, update)
    case 'plan_removed':
      return planRemoved(step, transcript, update)
    case 'usage_update':
      return usageUpdated(step, transcript, update)
    case 'session_info_update':
      return setTitle(step, transcript, update)
    default:
      return transcript
  }
}

/** A message of more than a megabyte is in a blob, and nobody can tell from here what it was. */
function withoutWhole({ copy }: Step, transcript: Transcript): Transcript {
  if (!transcript.complete) return transcript
  const next = copy(transcript)
  next.complete = false
  return next
}
