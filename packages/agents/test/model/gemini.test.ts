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
    functionDeclarations: [
      {
        name: 'run_shell_command',
        parametersJsonSchema: {
          type: 'object',
          properties: { command: { type: 'string' } },
          required: ['command'],
        },
      },
    ],
  },
]
const user = (text: string) => ({ role: 'user', parts: [{ text }] })
const model = () => `${server.url}/v1beta/models/gemini-2.5-flash`
const stream = (contents: unknown[]) => post(`${model()}:streamGenerateContent?alt=sse`, { contents, tools })
const whole = (contents: unknown[], rest: object = {}) =>
  post(`${model()}:generateContent`, { contents, tools, ...rest })

const response = (part: object, finish: object = {}) => ({
  candidates: [{ content: { role: 'model', parts: [part] }, index: 0, ...finish }],
  usageMetadata: {
    promptTokenCount: expect.any(Number),
    candidatesTokenCount: expect.any(Number),
    totalTokenCount: expect.any(Number),
  },
  modelVersion: 'gemini-2.5-flash',
  responseId: expect.any(String),
})

test('streams text as candidates and ends with finishReason STOP', async () => {
  const { status, events } = await stream([user('say:banana')])
  expect(status).toBe(200)
  expect(events.map(({ data }) => data)).toEqual([
    response({ text: 'I' }),
    response({ text: ' say' }),
    response({ text: ' banana.' }, { finishReason: 'STOP' }),
  ])
})

test('streams a thought as one part with a heading before the text', async () => {
  const { events } = await stream([user('think:apples')])
  const parts = events.map(({ data }) => data.candidates[0].content.parts[0])
  expect(parts).toEqual([
    { text: '**Thinking**\nLet me think about apples.', thought: true },
    { text: 'I' },
    { text: ' thought' },
    { text: ' about' },
    { text: ' apples.' },
  ])
})

test('streams a tool call with its arguments as an object', async () => {
  const { events } = await stream([user('run:ls -l')])
  expect(events.map(({ data }) => data)).toEqual([
    response(
      { functionCall: { id: expect.any(String), name: 'run_shell_command', args: { command: 'ls -l' } } },
      { finishReason: 'STOP' },
    ),
  ])
})

test('responds with "done" after a tool result', async () => {
  const { json } = await whole([
    user('run:ls'),
    { role: 'model', parts: [{ functionCall: { name: 'run_shell_command', args: {} } }] },
    {
      role: 'user',
      parts: [{ functionResponse: { name: 'run_shell_command', response: { output: 'a.txt' } } }],
    },
  ])
  expect(json.candidates[0]).toEqual({
    content: { role: 'model', parts: [{ text: 'done:' }, { text: ' a.txt' }] },
    index: 0,
    finishReason: 'STOP',
  })
})

test.each([
  [400, 'INVALID_ARGUMENT'],
  [429, 'RESOURCE_EXHAUSTED'],
  [500, 'INTERNAL'],
])('responds to the mark error:%i with an error of type %s', async (code, status) => {
  const answer = await stream([user(`error:${code}`)])
  expect(answer.status).toBe(code)
  expect(answer.json).toEqual({
    error: { code, message: `The fake model was told to fail with ${code}.`, status },
  })
})

test('counts tokens', async () => {
  const { json } = await post(`${model()}:countTokens`, { contents: [user('hello')] })
  expect(json).toEqual({ totalTokens: expect.any(Number) })
})

test('responds with a title to a request without tools', async () => {
  const { json } = await whole([user('error:500')], { tools: [] })
  expect(json.candidates[0].content.parts.map(({ text }: { text: string }) => text).join('')).toBe(
    'A short title',
  )
})

test.each(['responseJsonSchema', 'responseSchema'])('responds with JSON of the schema in %s', async (key) => {
  const schema = { type: 'object', properties: { title: { type: 'string' } }, required: ['title'] }
  const { json } = await whole([user('error:500')], { generationConfig: { [key]: schema } })
  const parts = json.candidates[0].content.parts.map(({ text }: { text: string }) => text)
  expect(parts.join('')).toBe('{"title":"A short title"}')
})
