import type { ToolKind } from '@agentclientprotocol/sdk/unstable'
import { isMode, modeAfter } from '../options.ts'
import { permit, requestPermission } from '../permission.ts'
import { newToolId, openTool } from '../tool-call.ts'
import type { Turn } from '../turn.ts'

const kinds = [
  'read',
  'edit',
  'delete',
  'move',
  'search',
  'execute',
  'think',
  'fetch',
  'switch_mode',
  'other',
] as const satisfies readonly ToolKind[]

function kindFrom(argument: string): ToolKind {
  const kind = kinds.find((one) => one === (argument || 'other'))
  if (kind === undefined) throw new Error(`Expected one of ${kinds.join(', ')}, got ${argument}.`)
  return kind
}

export async function askPermission(turn: Turn, argument: string): Promise<void> {
  const kind = kindFrom(argument)
  const tool = await openTool(turn, { title: `Something of the kind ${kind}`, kind, rawInput: { kind } })
  const verdict = await permit(turn, tool.call, kind)
  if (verdict === 'allow') await tool.complete()
  else await tool.fail('The user rejected it.')
  await turn.say(verdict === 'allow' ? 'Allowed.' : 'Rejected.')
}

/** Like gemini and qwen: the permission request is the first message about the tool call. */
export async function permissionFirst(turn: Turn): Promise<void> {
  const toolCallId = newToolId()
  const verdict = await requestPermission(
    turn,
    { toolCallId, title: 'Something new', kind: 'execute', status: 'pending', rawInput: { new: true } },
    'execute',
    turn.session.id,
  )
  const status = verdict === 'allow' ? 'completed' : 'failed'
  await turn.send({ sessionUpdate: 'tool_call_update', toolCallId, status })
  await turn.say(verdict === 'allow' ? 'Allowed.' : 'Rejected.')
}

/** Announces the child only to clients that support subagents, but requests its permission in any case. */
export async function subagent(turn: Turn): Promise<void> {
  const child = `${turn.session.id}.child`
  const supported = (turn.clientCapabilities.subagents ?? null) !== null
  const announce = async (state: { state: 'running' } | { state: 'idle'; stopReason: 'end_turn' }) => {
    if (supported)
      await turn.send({ sessionUpdate: 'subagent_update', sessionId: child, title: 'A helper', state })
  }
  await announce({ state: 'running' })
  const toolCall = { toolCallId: newToolId(), title: 'What the helper wants', kind: 'execute' } as const
  const verdict = await requestPermission(turn, toolCall, 'execute', child)
  await announce({ state: 'idle', stopReason: 'end_turn' })
  await turn.say(`The helper was ${verdict === 'allow' ? 'allowed' : 'rejected'}.`)
}

export async function question(turn: Turn): Promise<void> {
  if ((turn.clientCapabilities.elicitation?.form ?? null) === null) {
    await turn.say('This client cannot be asked questions.')
    return
  }
  const answer = await turn.request('elicitation/create', {
    mode: 'form',
    sessionId: turn.session.id,
    message: 'Before I start, three questions:',
    requestedSchema: {
      type: 'object',
      properties: {
        name: { type: 'string', title: 'What shall I call it?', minLength: 1, maxLength: 40 },
        colour: {
          type: 'string',
          title: 'Which colour?',
          oneOf: [
            { const: 'amber', title: 'Amber' },
            { const: 'teal', title: 'Teal' },
            { const: 'plum', title: 'Plum' },
          ],
          default: 'teal',
        },
        tests: { type: 'boolean', title: 'With tests?', default: true },
      },
      required: ['name', 'colour'],
    },
  })
  const content = 'content' in answer ? answer.content : undefined
  await turn.say(`The answer is ${answer.action}${content ? `: ${JSON.stringify(content)}` : ''}.`)
}

export async function modeChange(turn: Turn, argument: string): Promise<void> {
  if (argument !== '' && !isMode(argument)) throw new Error(`There is no mode ${argument}.`)
  turn.session.mode = isMode(argument) ? argument : modeAfter(turn.session.mode)
  await turn.send({ sessionUpdate: 'current_mode_update', currentModeId: turn.session.mode })
}
