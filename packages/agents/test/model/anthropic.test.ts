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
    name: 'Bash',
    input_schema: { type: 'object', properties: { command: { type: 'string' } }, required: ['command'] },
  },
]
const user = (content: unknown) => ({ role: 'user', content })
const request = (messages: unknown[], rest: object = {}) =>
  post(`${server.url}/v1/messages?beta=true`, {
    model: 'm',
    max_tokens: 9,
    stream: true,
    tools,
    messages,
    ...rest,
  })

test('streams text as one block between a start and a stop event', async () => {
  const { status, events } = await request([user([{ type: 'text', text: 'say:banana' }])])
  expect(status).toBe(200)
  expect(events.every(({ event, data }) => event === data.type)).toBe(true)
  expect(events.map(({ data }) => data)).toEqual([
    {
      type: 'message_start',
      message: {
        id: expect.stringMatching(/^msg_/),
        type: 'message',
        role: 'assistant',
        model: 'm',
        content: [],
        stop_reason: null,
        stop_sequence: null,
        usage: {
          input_tokens: expect.any(Number),
          cache_creation_input_tokens: 0,
          cache_read_input_tokens: 0,
          output_tokens: 1,
        },
      },
    },
    { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
    { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'I' } },
    { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: ' say' } },
    { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: ' banana.' } },
    { type: 'content_block_stop', index: 0 },
    {
      type: 'message_delta',
      delta: { stop_reason: 'end_turn', stop_sequence: null },
      usage: { output_tokens: 4 },
    },
    { type: 'message_stop' },
  ])
})

test('streams a thought as a signed block before the text', async () => {
  const { events } = await request([user('think:apples')])
  const starts = events.filter(({ event }) => event === 'content_block_start').map(({ data }) => data)
  expect(starts).toEqual([
    {
      type: 'content_block_start',
      index: 0,
      content_block: { type: 'thinking', thinking: '', signature: '' },
    },
    { type: 'content_block_start', index: 1, content_block: { type: 'text', text: '' } },
  ])
  const deltas = events.filter(({ data }) => data.index === 0 && data.delta).map(({ data }) => data.delta)
  expect(deltas.at(0)).toEqual({ type: 'thinking_delta', thinking: 'Let' })
  expect(deltas.at(-1)).toEqual({ type: 'signature_delta', signature: expect.any(String) })
})

test('streams a tool call as a block with its input as JSON', async () => {
  const { events } = await request([user('run:ls -l')])
  expect(events.slice(1, -2).map(({ data }) => data)).toEqual([
    {
      type: 'content_block_start',
      index: 0,
      content_block: { type: 'tool_use', id: expect.stringMatching(/^toolu_/), name: 'Bash', input: {} },
    },
    {
      type: 'content_block_delta',
      index: 0,
      delta: { type: 'input_json_delta', partial_json: '{"command":"ls -l"}' },
    },
    { type: 'content_block_stop', index: 0 },
  ])
  expect(events.at(-2)?.data.delta).toEqual({ stop_reason: 'tool_use', stop_sequence: null })
})

test('responds with "done" after a tool result', async () => {
  const { json } = await request(
    [
      user('run:ls'),
      { role: 'assistant', content: [{ type: 'tool_use', id: 't', name: 'Bash', input: {} }] },
      user([
        { type: 'tool_result', tool_use_id: 't', content: [{ type: 'text', text: 'a.txt' }] },
        { type: 'text', text: '<system-reminder>say:nothing</system-reminder>' },
      ]),
    ],
    { stream: false },
  )
  expect(json).toMatchObject({
    type: 'message',
    content: [{ type: 'text', text: 'done: a.txt' }],
    stop_reason: 'end_turn',
  })
})

test('reads user text next to the result of a cancelled tool as the next prompt', async () => {
  const { json } = await request(
    [
      user('run:ls'),
      user([
        { type: 'tool_result', tool_use_id: 't', content: 'cancelled' },
        { type: 'text', text: '[Request interrupted by user]' },
        { type: 'text', text: 'say:banana' },
      ]),
    ],
    { stream: false },
  )
  expect(json.content).toEqual([{ type: 'text', text: 'I say banana.' }])
})

test('includes thoughts and tool calls in a response that is not streamed', async () => {
  const thinking = await request([user('think:')], { stream: false })
  expect(thinking.json.content.map(({ type }: { type: string }) => type)).toEqual(['thinking', 'text'])
  const calling = await request([user('run:ls')], { stream: false })
  expect(calling.json).toMatchObject({
    content: [{ type: 'tool_use', name: 'Bash', input: { command: 'ls' } }],
    stop_reason: 'tool_use',
  })
})

test.each([
  [400, 'invalid_request_error'],
  [429, 'rate_limit_error'],
  [500, 'api_error'],
])('responds to the mark error:%i with an error of type %s', async (code, type) => {
  const { status, json } = await request([user(`error:${code}`)])
  expect(status).toBe(code)
  expect(json).toEqual({
    type: 'error',
    error: { type, message: `The fake model was told to fail with ${code}.` },
  })
})

test('counts tokens', async () => {
  const { json } = await post(`${server.url}/v1/messages/count_tokens`, { messages: [user('hello')] })
  expect(json).toEqual({ input_tokens: expect.any(Number) })
})

test('responds with a title to a request without tools', async () => {
  const { json } = await request([user('error:500')], { stream: false, tools: [] })
  expect(json.content).toEqual([{ type: 'text', text: 'A short title' }])
})

test('responds with JSON of the requested schema', async () => {
  const schema = { type: 'object', properties: { title: { type: 'string' } }, required: ['title'] }
  const rest = { stream: false, output_config: { format: { type: 'json_schema', schema } } }
  const { json } = await request([user('error:500')], rest)
  expect(json.content).toEqual([{ type: 'text', text: '{"title":"A short title"}' }])
})
