import { afterAll, beforeAll, expect, test } from 'vitest'
import { post } from './post.ts'
import { type ModelServer, startModelServer } from './server.ts'

let server: ModelServer
beforeAll(async () => {
  server = await startModelServer()
})
afterAll(() => server.close())

const tools = [
  {
    type: 'function',
    name: 'exec_command',
    parameters: { type: 'object', properties: { cmd: { type: 'string' } }, required: ['cmd'] },
  },
  { type: 'custom', name: 'apply_patch', format: { type: 'grammar' } },
  { type: 'web_search' },
]
const user = (text: string) => ({ type: 'message', role: 'user', content: [{ type: 'input_text', text }] })
const request = (input: unknown, rest: object = {}) =>
  post(`${server.url}/v1/responses`, { model: 'm', stream: true, tools, input, ...rest })

test('streams text as one message and ends with the whole response', async () => {
  const { status, events } = await request([user('<environment_context/>'), user('say:banana')])
  expect(status).toBe(200)
  expect(events.every(({ event, data }) => event === data.type)).toBe(true)
  expect(events.map(({ data }) => data.sequence_number)).toEqual(events.map((_, index) => index))
  expect(events.map(({ event }) => event)).toEqual([
    'response.created',
    'response.in_progress',
    'response.output_item.added',
    'response.content_part.added',
    'response.output_text.delta',
    'response.output_text.delta',
    'response.output_text.delta',
    'response.output_text.done',
    'response.content_part.done',
    'response.output_item.done',
    'response.completed',
  ])
  const item = {
    id: expect.stringMatching(/^msg_/),
    type: 'message',
    role: 'assistant',
    status: 'completed',
    content: [{ type: 'output_text', text: 'I say banana.', annotations: [] }],
  }
  expect(events[4]?.data).toMatchObject({ output_index: 0, content_index: 0, delta: 'I' })
  expect(events.at(-2)?.data).toMatchObject({ output_index: 0, item })
  expect(events.at(-1)?.data.response).toEqual({
    id: expect.stringMatching(/^resp_/),
    object: 'response',
    created_at: expect.any(Number),
    model: 'm',
    status: 'completed',
    error: null,
    output: [item],
    usage: {
      input_tokens: expect.any(Number),
      input_tokens_details: { cached_tokens: 0 },
      output_tokens: 4,
      output_tokens_details: { reasoning_tokens: 0 },
      total_tokens: expect.any(Number),
    },
  })
})

test('streams a thought as a reasoning summary before the message', async () => {
  const { events } = await request([user('think:apples')])
  const items = events.filter(({ event }) => event === 'response.output_item.done')
  expect(items.map(({ data }) => [data.output_index, data.item.type])).toEqual([
    [0, 'reasoning'],
    [1, 'message'],
  ])
  expect(items[0]?.data.item.summary).toEqual([{ type: 'summary_text', text: 'Let me think about apples.' }])
  expect(events.filter(({ event }) => event === 'response.reasoning_summary_text.delta')).toHaveLength(5)
})

test('streams a function call with JSON arguments', async () => {
  const { events } = await request([user('run:ls -l')])
  const call = {
    id: expect.stringMatching(/^fc_/),
    type: 'function_call',
    call_id: expect.stringMatching(/^call_/),
    name: 'exec_command',
  }
  const filled = '{"cmd":"ls -l"}'
  expect(events.slice(2, -1).map(({ data: { sequence_number, ...data } }) => data)).toEqual([
    {
      type: 'response.output_item.added',
      output_index: 0,
      item: { ...call, status: 'in_progress', arguments: '' },
    },
    {
      type: 'response.function_call_arguments.delta',
      item_id: call.id,
      output_index: 0,
      delta: filled,
    },
    {
      type: 'response.function_call_arguments.done',
      item_id: call.id,
      output_index: 0,
      arguments: filled,
    },
    {
      type: 'response.output_item.done',
      output_index: 0,
      item: { ...call, status: 'completed', arguments: filled },
    },
  ])
})

test('streams plain text to a tool with plain text input', async () => {
  const { events } = await request([user('write:a.txt:hello')])
  expect(events.slice(2, -1).map(({ event }) => event)).toEqual([
    'response.output_item.added',
    'response.custom_tool_call_input.delta',
    'response.custom_tool_call_input.done',
    'response.output_item.done',
  ])
  expect(events.at(-2)?.data.item).toMatchObject({
    type: 'custom_tool_call',
    name: 'apply_patch',
    input: '*** Begin Patch\n*** Add File: a.txt\n+hello\n*** End Patch',
  })
})

test('requests to run a command outside of the sandbox for the mark run-escalated', async () => {
  const { json } = await request('run-escalated:id', { stream: false })
  expect(json.status).toBe('completed')
  expect(JSON.parse(json.output[0].arguments)).toMatchObject({
    cmd: 'id',
    sandbox_permissions: 'require_escalated',
    justification: expect.any(String),
  })
})

test.each(['function_call_output', 'custom_tool_call_output'])(
  'responds with "done" after a %s',
  async (type) => {
    const { json } = await request([user('run:ls'), { type, call_id: 'c', output: 'a.txt' }], {
      stream: false,
    })
    expect(json.output[0].content[0].text).toBe('done: a.txt')
  },
)

test.each([
  [400, 'invalid_request_error'],
  [429, 'rate_limit_error'],
  [500, 'server_error'],
])('responds to the mark error:%i with an error of type %s', async (code, type) => {
  const { status, json } = await request([user(`error:${code}`)])
  expect(status).toBe(code)
  expect(json).toEqual({
    error: { message: `The fake model was told to fail with ${code}.`, type, param: null, code: null },
  })
})

test('responds with a title to a request without tools', async () => {
  const { json } = await request('error:500', { stream: false, tools: [{ type: 'web_search' }] })
  expect(json.output[0].content[0].text).toBe('A short title')
})

test('responds with JSON of the requested schema, and approves a review', async () => {
  const schema = {
    type: 'object',
    properties: { outcome: { type: 'string', enum: ['deny', 'allow'] }, rationale: { type: 'string' } },
    required: ['outcome'],
  }
  const { json } = await request('run:ls', {
    stream: false,
    text: { format: { type: 'json_schema', schema } },
  })
  expect(json.output[0].content[0].text).toBe('{"outcome":"allow"}')
})
