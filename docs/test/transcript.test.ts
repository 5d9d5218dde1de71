import { readFileSync } from 'node:fs'
import type { StreamPiece } from '@vitrine/protocol'
import { type Transcript, transcriptView, turnPieces } from '@vitrine/views'
import { describe, expect, it } from 'vitest'
import * as expected from '../../conformance/agents/expected.ts'
import {
  asks,
  calls,
  conversation,
  finish,
  says,
  start,
  type TestEvent,
  text,
  thinks,
  update,
  updates,
} from '../../packages/views/test/transcript/conversation.ts'
import { code, rowsBelow } from './table-rows.ts'

const page = readFileSync(new URL('../transcript.md', import.meta.url), 'utf8')

const turn = 't1'
const plan = { entries: [{ content: 'Bake', status: 'pending', priority: 'low' }] }
const permission = { permission: 'p1', toolCall: { toolCallId: 'c1' }, options: [] }
const question = { question: 'q1', message: 'Which colour?', mode: 'form' }
const file: TestEvent[1] = { path: 'a.txt', kind: 'file' }

/** For each row of the table, events before and the event of the row. */
const samples: readonly (readonly [before: readonly TestEvent[], event: TestEvent])[] = [
  [[], ['session.created', { agent: 'demo' }]],
  [[], ['session.updated', { title: 'Bakery' }]],
  [[], update('session_info_update', { title: 'Bakery' })],
  [[], start(turn)],
  [[start(turn)], says('Hello.')],
  [[], update('user_message_chunk', { content: text('Hi.') })],
  [[start(turn)], thinks('Hm.')],
  [[start(turn)], calls('c1')],
  [[start(turn), calls('c1')], updates('c1', { status: 'completed' })],
  [[start(turn)], asks({ toolCallId: 'c1' })],
  [
    [start(turn), asks({ toolCallId: 'c1' })],
    ['permission.requested', permission],
  ],
  [
    [start(turn), ['permission.requested', permission]],
    ['permission.resolved', { permission: 'p1', outcome: 'ok', answer: 'allow_once' }],
  ],
  [[start(turn)], ['question.requested', question]],
  [
    [start(turn), ['question.requested', question]],
    ['question.resolved', { question: 'q1', outcome: 'ok', action: 'decline' }],
  ],
  [[start(turn)], ['file.created', file]],
  [[start(turn)], ['file.changed', file]],
  [[start(turn)], ['file.deleted', file]],
  [[start(turn)], ['file.moved', { ...file, previousPath: 'b.txt' }]],
  [[start(turn)], update('plan', plan)],
  [[start(turn)], update('plan_update', { plan: { type: 'items', planId: 'a', ...plan } })],
  [
    [start(turn), update('plan_update', { plan: { type: 'items', planId: 'a', ...plan } })],
    update('plan_removed', { planId: 'a' }),
  ],
  [[start(turn)], update('usage_update', { used: 5, size: 10 })],
  [[start(turn), calls('c1')], finish(turn, { usage: { totalTokens: 3 } })],
  [[], ['prompt.dropped', { reason: 'cancelled' }]],
  [
    [start(turn), calls('c1')],
    ['session.closed', { reason: 'closed' }],
  ],
]

const shownFields = [
  'agent',
  'title',
  'turns',
  'messages',
  'thoughts',
  'toolCalls',
  'permissions',
  'questions',
  'plan',
  'usage',
  'closedAt',
] as const satisfies readonly (keyof Transcript)[]

/** The row of a sample: its event, the agent's message in it, the changed fields of the transcript, and its pieces. */
function rowOfSample([before, [type, data]]: (typeof samples)[number]): string[] {
  const outside = type.startsWith('session.') || messageIn(data) === 'user_message_chunk'
  const events = conversation(
    ...[...before, [type, data] as const].map(
      ([each, fields]) => [each, fields, outside ? {} : { turn }] as const,
    ),
  )
  const view = transcriptView()
  const earlier = view.add(view.empty, events.slice(0, -1))
  const after = view.add(earlier, events)
  const changed = shownFields.filter((field) => earlier[field] !== after[field])
  let { transcript } = turnPieces.start
  let pieces: readonly { readonly type: string }[] = []
  for (const event of events)
    ({ transcript, pieces } = turnPieces.add({ session: 'ses_1', turn }, transcript, event))
  const names = (found: readonly string[]) => found.map(code).join(', ') || '–'
  const message = messageIn(data)
  return [
    code(type),
    message === undefined ? '–' : code(message),
    names(changed),
    names(pieces.map((one) => one.type)),
  ]
}

function messageIn({ message }: TestEvent[1]): string | undefined {
  // The cast is safe: the samples are made above.
  const { method, params } = (message ?? {}) as {
    readonly method?: string
    readonly params?: { readonly update?: { readonly sessionUpdate: string } }
  }
  return params?.update?.sessionUpdate ?? method
}

describe('the table of sources', () => {
  it('is what the views make of each event', () => {
    expect(rowsBelow(page, 'Every piece and its source')).toEqual(samples.map(rowOfSample))
  })

  it('has every kind of piece', () => {
    const pieces: Readonly<Record<StreamPiece['type'], true>> = {
      text: true,
      thought: true,
      toolCall: true,
      fileChange: true,
      permission: true,
      question: true,
      usage: true,
      end: true,
    }
    const named = rowsBelow(page, 'Every piece and its source').flatMap(([, , , cell = '']) =>
      cell.split(', '),
    )
    expect(new Set(named.filter((cell) => cell !== '–'))).toEqual(new Set(Object.keys(pieces).map(code)))
  })
})

const toolCallStart = {
  first: 'tool_call',
  late: 'tool_call_update',
  never: 'session/request_permission',
} as const

function rowOf(agent: expected.ExpectedBehaviour): string[] {
  const { permissions, mode, question: asked, toolCall, reports, leavesOpen, modelErrors } = agent
  const errors = new Set(Object.values(modelErrors).map(code))
  return [
    code(agent.agent),
    permissions === undefined ? 'never' : mode === undefined ? 'yes' : `in mode ${code(mode)}`,
    asked === undefined ? 'no' : 'yes',
    code(toolCallStart[toolCall]),
    reports.usage ? 'yes' : 'no',
    reports.context ? 'yes' : 'no',
    agent.setsTitle ? 'yes' : 'no',
    leavesOpen.join(', ') || '–',
    [...errors].join(', '),
  ]
}

it('the table of agents is what the tests with the real agents expect', () => {
  const agents = Object.values(expected).toSorted((a, b) => (a.agent < b.agent ? -1 : 1))
  expect(rowsBelow(page, 'Per agent')).toEqual(agents.map(rowOf))
})
