import type { FunctionAgent } from '@vitrine/agents'
import { expect, it } from 'vitest'
import { eventsOf, open, promptForText, scene, script, until } from './fixture.ts'

/** An agent whose messages have more values than one event may have. */
const verbose = script(
  'verbose',
  `
const many = Array.from({ length: 60_000 }, (_, index) => index)
const manyOptions = many.slice(0, 15_000).map((index) => ({ optionId: 'o' + index, name: 'Option ' + index, kind: 'allow_once' }))
const schema = { type: 'object', properties: Object.fromEntries(many.slice(0, 30_000).map((index) => ['f' + index, { type: 'string' }])) }
const usage = Object.fromEntries(many.map((index) => ['tokens' + index, index]))
const modes = { currentModeId: 'm0', availableModes: many.slice(0, 20_000).map((index) => ({ id: 'm' + index, name: 'Mode ' + index })) }
on('session/new', ({ id }) => reply(id, { sessionId: 'session-' + ++asked, modes }))
on('session/prompt', async ({ id, sessionId, prompt }) => {
  const wanted = prompt[0].text
  const toolCall = { toolCallId: 't1', title: 'Edit all', kind: 'edit', rawInput: { many } }
  const permission = (fields) => ask('session/request_permission', { sessionId, toolCall, options, ...fields })
  const shown = ({ result }) => say(sessionId, JSON.stringify(result).slice(0, 100))
  if (wanted === 'permission') shown(await permission({}))
  if (wanted === 'options') shown(await permission({ toolCall: { toolCallId: 't2', title: 'Choose' }, options: manyOptions }))
  if (wanted === 'plan') shown(await permission({ toolCall: { ...toolCall, kind: 'switch_mode' } }))
  if (wanted === 'question')
    shown(await ask('elicitation/create', { sessionId, mode: 'form', message: 'Which?', requestedSchema: schema }))
  if (wanted === 'mode') update(sessionId, { sessionUpdate: 'current_mode_update', currentModeId: 'm7' })
  say(sessionId, ' done')
  reply(id, { stopReason: 'end_turn', ...(wanted === 'usage' && { usage }) })
})
`,
)

it('does not end an agent for a message with more values than an event may have', async () => {
  const sandbox = await scene({ agents: [verbose] })
  const session = await open(sandbox, { agent: 'verbose' })
  expect(session.info.options).toHaveLength(1)

  const edit = promptForText(sandbox, session, 'permission')
  const requested = await until(sandbox, 'permission.requested')
  expect(requested.data).toMatchObject({
    truncated: true,
    toolCall: { title: 'Edit all', kind: 'edit' },
    options: [{ id: 'yes' }, { id: 'no' }],
  })
  await session.respondPermission(String(requested.data.permission), 'allow_once')
  expect(await edit).toBe('{"outcome":{"outcome":"selected","optionId":"yes"}} done')

  const choice = promptForText(sandbox, session, 'options')
  const { data: choices } = await until(sandbox, 'permission.requested', ({ seq }) => seq > requested.seq)
  expect(choices).toMatchObject({ truncated: true, toolCall: { title: 'Choose' } })
  expect(choices.options).toHaveLength(10_000)
  await session.respondPermission(String(choices.permission), { option: 'o14999' })
  expect(await choice).toBe('{"outcome":{"outcome":"selected","optionId":"o14999"}} done')

  const plan = promptForText(sandbox, session, 'plan')
  const { data: plans, seq } = await until(sandbox, 'question.requested')
  expect(plans).toMatchObject({ truncated: true, about: 'plan', toolCall: { title: 'Edit all' } })
  await session.respondQuestion(String(plans.question), { action: 'accept', content: { choice: 'yes' } })
  expect(await plan).toContain('"optionId":"yes"')

  const question = promptForText(sandbox, session, 'question')
  const { data: asked } = await until(sandbox, 'question.requested', (event) => event.seq > seq)
  expect(asked).toMatchObject({ truncated: true, message: 'Which?', schema: { type: 'object' } })
  const content = Object.fromEntries(Array.from({ length: 60_000 }, (_, index) => [`f${index}`, index]))
  await session.respondQuestion(String(asked.question), { action: 'accept', content })
  expect(await question).toContain('{"action":"accept","content":{"f0":0,"f1":1')
  expect((await eventsOf(sandbox, 'question.resolved')).at(-1)?.data).toMatchObject({
    truncated: true,
    content: { f0: 0 },
  })

  expect(await session.prompt('mode')).toMatchObject({ outcome: 'ok' })
  expect(session.info.options).toMatchObject([{ current: 'm7' }])
  expect(await session.prompt('usage')).toMatchObject({ outcome: 'ok', usage: { tokens59999: 59_999 } })
  expect((await eventsOf(sandbox, 'turn.finished')).at(-1)?.data).toMatchObject({ truncated: true })
  expect(await eventsOf(sandbox, 'agent.exited')).toEqual([])
  // The message itself has all of it.
  expect(await eventsOf(sandbox, 'agent.message')).toContainEqual(
    expect.objectContaining({
      data: expect.objectContaining({
        message: { blob: expect.any(String), bytes: expect.any(Number), mediaType: expect.any(String) },
      }),
    }),
  )
})

it('stores an event of a function with too many values as a blob, and continues', async () => {
  const many = Array.from({ length: 60_000 }, (_, index) => index)
  const fields = Object.fromEntries(
    Array.from({ length: 40_000 }, (_, index) => [`field-of-a-row-${index}`, 'a text']),
  )
  const agent: FunctionAgent = {
    name: 'function',
    onPrompt: () => [
      { type: 'rows', id: 'r1', data: { many } },
      { type: 'wide', ...fields },
      { no: 'type', many },
      'said',
    ],
  }
  const sandbox = await scene({ agents: [agent] })
  const session = await sandbox.openSession({ agent: 'function' })
  expect(await promptForText(sandbox, session, 'go')).toBe('said')
  const events = await eventsOf(sandbox, 'foreign.event')
  const blob = { blob: expect.stringContaining('sha256:') }
  expect(events).toMatchObject([
    { data: { type: 'rows', id: 'r1', encoding: 'json', data: blob } },
    { data: { type: 'wide', encoding: 'json', data: blob } },
    { data: { type: 'unknown', encoding: 'json', data: blob } },
  ])
  expect(await eventsOf(sandbox, 'agent.exited')).toEqual([])
})
