import * as z from 'zod/mini'
import { component } from '../../component.ts'
import { outcome } from '../values.ts'
import { json } from './json.ts'
import { contextUse, cost, modelError, moment, usage } from './session.ts'
import { attachment, toolCallFields } from './transcript.ts'

const origin = () => ({ turn: z.string(), at: moment(), cursor: z.string() })

const messagePiece = component('MessagePiece', () =>
  z.object({
    ...origin(),
    type: z.enum(['text', 'thought']),
    id: z.string(),
    text: z.string(),
    attachments: z.exactOptional(z.array(attachment())),
  }),
)

const cut = z.exactOptional(z.literal(true))

const toolCallPiece = component('ToolCallPiece', () =>
  z.object({ ...origin(), type: z.literal('toolCall'), id: z.string(), ...toolCallFields(), cut }),
)

const fileChangePiece = component('FileChangePiece', () =>
  z.object({
    ...origin(),
    type: z.literal('fileChange'),
    change: z.enum(['created', 'changed', 'deleted', 'moved']),
    path: z.string(),
    kind: z.enum(['file', 'directory', 'symlink', 'other']),
    previousPath: z.exactOptional(z.string()),
    size: z.exactOptional(z.int()),
    before: z.exactOptional(z.string()),
    after: z.exactOptional(z.string()),
  }),
)

const requestFields = () => ({
  ...origin(),
  id: z.string(),
  outcome: z.exactOptional(outcome()),
  by: z.exactOptional(z.string()),
  cut,
})

const permissionPiece = component('PermissionPiece', () =>
  z.object({
    ...requestFields(),
    type: z.literal('permission'),
    toolCall: z.exactOptional(z.string()),
    title: z.exactOptional(z.string()),
    options: z.array(
      z.object({ id: z.string(), name: z.exactOptional(z.string()), kind: z.exactOptional(z.string()) }),
    ),
    answer: z.exactOptional(z.string()),
    option: z.exactOptional(z.string()),
  }),
)

const questionPiece = component('QuestionPiece', () =>
  z.object({
    ...requestFields(),
    type: z.literal('question'),
    message: z.exactOptional(z.string()),
    mode: z.exactOptional(z.enum(['form', 'url'])),
    schema: z.exactOptional(json()),
    url: z.exactOptional(z.string()),
    action: z.exactOptional(z.enum(['accept', 'decline', 'cancel'])),
    content: z.exactOptional(json()),
  }),
)

const usagePiece = component('UsagePiece', () =>
  z.object({
    ...origin(),
    type: z.literal('usage'),
    context: z.exactOptional(contextUse()),
    sessionCost: z.exactOptional(cost()),
    usage: z.exactOptional(usage()),
    cost: z.exactOptional(cost()),
  }),
)

const endPiece = component('EndPiece', () =>
  z.object({
    ...origin(),
    type: z.literal('end'),
    outcome: outcome(),
    stopReason: z.exactOptional(z.string()),
    modelError: z.exactOptional(modelError()),
    error: z.exactOptional(z.object({ code: z.string(), message: z.string() })),
    complete: z.boolean(),
  }),
)

/** A piece of a turn's stream. */
export const streamPiece = component('StreamPiece', () =>
  z.union([
    messagePiece(),
    toolCallPiece(),
    fileChangePiece(),
    permissionPiece(),
    questionPiece(),
    usagePiece(),
    endPiece(),
  ]),
)
