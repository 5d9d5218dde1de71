import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { post } from './post.ts'
import { startModelServer } from './server.ts'

const tools = [{ type: 'function', function: { name: 'bash', parameters: {} } }]
const request = (content: string) => ({
  model: 'm',
  stream: true,
  tools,
  messages: [{ role: 'user', content }],
})

test('records its requests', async () => {
  await using server = await startModelServer()
  await post(`${server.url}/v1/chat/completions`, request('say:banana'))
  await fetch(`${server.url}/v1/models`)
  expect(server.requests).toEqual([
    {
      dialect: 'openai-chat',
      method: 'POST',
      path: '/v1/chat/completions',
      key: 'dummy',
      stream: true,
      tools: ['bash'],
      earlier: '',
      prompt: 'say:banana',
      mark: { kind: 'say', word: 'banana' },
      results: 0,
    },
    {
      dialect: 'other',
      method: 'GET',
      path: '/v1/models',
      stream: false,
      tools: [],
      earlier: '',
      prompt: '',
      results: 0,
    },
  ])
  expect(await (await fetch(`${server.url}/requests`)).json()).toEqual(server.requests)
})

test('repeats the last word of a prompt without a mark', async () => {
  await using server = await startModelServer()
  const { json } = await post(`${server.url}/v1/chat/completions`, {
    ...request('<user_input>Hello, dear kumquat!</user_input>'),
    stream: false,
  })
  expect(json.choices[0].message.content).toBe('You said kumquat.')
})

test('streams a slow response until the client disconnects', async () => {
  await using server = await startModelServer()
  const controller = new AbortController()
  const response = await fetch(`${server.url}/v1/chat/completions`, {
    method: 'POST',
    body: JSON.stringify(request('slow:tick')),
    signal: controller.signal,
  })
  let text = ''
  await expect(async () => {
    for await (const piece of response.body!.pipeThrough(new TextDecoderStream())) {
      text += piece
      if (text.includes('tick 298')) controller.abort()
    }
  }).rejects.toThrow('aborted')
  expect(text).toContain('tick 300')
  // The rest of the response was not written at once, so it was never sent after the client disconnected.
  expect(text).not.toMatch(/tick 1\b/)
})

test('rejects an invalid body in the error format of the dialect', async () => {
  await using server = await startModelServer()
  const { status, json } = await post(`${server.url}/v1/messages`, { messages: 'none' })
  expect(status).toBe(400)
  expect(json).toMatchObject({ type: 'error', error: { type: 'invalid_request_error' } })
})

test.each([
  ['/v1/models', { object: 'list', data: [{ id: 'fake-model' }] }],
  ['/v1beta/models', { models: [{ name: 'models/fake-model' }] }],
  ['/api/v1/users/me', { success: true, data: { email: 'nobody@example.com' } }],
  ['/anything/else', {}],
])('responds to %s, which agents request besides completions', async (path, body) => {
  await using server = await startModelServer()
  const response = await fetch(server.url + path)
  expect(response.status).toBe(200)
  expect(await response.json()).toMatchObject(body)
})

test('runs as a program until it is killed', async () => {
  const child = spawn(process.execPath, [fileURLToPath(new URL('main.ts', import.meta.url)), '--port', '0'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const [line] = await once(child.stdout, 'data')
  const { url } = JSON.parse(String(line))
  expect((await fetch(`${url}/v1/models`)).status).toBe(200)
  child.kill('SIGTERM')
  expect(await once(child, 'exit')).toEqual([0, null])
})
