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
    function: {
      name: 'bash',
      parameters: { type: 'object', properties: { command: { type: 'string' } }, required: ['command'] },
    },
  },
]
const user = (content: unknown) => ({ role: 'user', content })
const request = (messages: unknown[], rest: object = {}) =>
  post(`${server.url}/v1/chat/completions`, { model: 'm', stream: true, tools, messages, ...rest })

const chunk = (delta: object, finish_reason: string | null = null) => ({
  id: expect.stringMatching(/^chatcmpl-/),
  object: 'chat.completion.chunk',
  created: expect.any(Number),
  model: 'm',
  choices: [{ index: 0, delta, finish_reason }],
})

test('streams text in chunks, then the finish reason, the usage and [DONE]', async () => {
  const { status, events } = await request([{ role: 'system', content: 'run:ls' }, user('say:banana')])
  expect(status).toBe(200)
  expect(events.map(({ data }) => data)).toEqual([
    chunk({ role: 'assistant', content: '' }),
    chunk({ content: 'I' }),
    chunk({ content: ' say' }),
    chunk({ content: ' banana.' }),
    chunk({}, 'stop'),
    {
      ...chunk({}),
      choices: [],
      usage: { prompt_tokens: expect.any(Number), completion_tokens: 4, total_tokens: expect.any(Number) },
    },
    '[DONE]',
  ])
})

test('streams a thought as reasoning before the text', async () => {
  const { events } = await request([user([{ type: 'text', text: 'think:apples' }])])
  const deltas = events.slice(0, -2).map(({ data }) => Object.keys(data.choices[0].delta).join())
  expect(deltas).toEqual([
    'role,content',
    ...Array(5).fill('reasoning_content'),
    ...Array(4).fill('content'),
    '',
  ])
})

test('streams a tool call with its arguments as JSON', async () => {
  const { events } = await request([user('run:ls -l')])
  expect(events.slice(1, 3).map(({ data }) => data)).toEqual([
    chunk({
      tool_calls: [
        {
          index: 0,
          id: expect.stringMatching(/^call_/),
          type: 'function',
          function: { name: 'bash', arguments: '{"command":"ls -l"}' },
        },
      ],
    }),
    chunk({}, 'tool_calls'),
  ])
})

test('responds with "done" after a tool result', async () => {
  const { json } = await request(
    [
      user('run:ls'),
      { role: 'assistant', content: null },
      { role: 'tool', tool_call_id: 'c', content: 'a.txt' },
    ],
    { stream: false },
  )
  expect(json).toMatchObject({
    object: 'chat.completion',
    choices: [{ index: 0, message: { role: 'assistant', content: 'done: a.txt' }, finish_reason: 'stop' }],
    usage: { completion_tokens: 3 },
  })
})

test('includes thoughts and tool calls in a response that is not streamed', async () => {
  const thinking = await request([user('think:apples')], { stream: false })
  expect(thinking.json.choices[0].message).toEqual({
    role: 'assistant',
    content: 'I thought about apples.',
    reasoning_content: 'Let me think about apples.',
  })
  const calling = await request([user('run:ls')], { stream: false })
  expect(calling.json.choices[0]).toMatchObject({
    message: { content: null, tool_calls: [{ type: 'function', function: { name: 'bash' } }] },
    finish_reason: 'tool_calls',
  })
})

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
  const { json } = await request([user('error:500')], { stream: false, tools: undefined })
  expect(json.choices[0].message.content).toBe('A short title')
})

test('responds with JSON of the requested schema', async () => {
  const schema = { type: 'object', properties: { title: { type: 'string' } }, required: ['title'] }
  const rest = { stream: false, response_format: { type: 'json_schema', json_schema: { schema } } }
  const { json } = await request([user('error:500')], rest)
  expect(json.choices[0].message.content).toBe('{"title":"A short title"}')
})
