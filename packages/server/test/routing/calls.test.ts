import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  allEvents,
  bearer,
  jsonBody,
  openDaemon,
  problemOf,
  type ResponseJson,
  type TestDaemon,
  token,
} from '../daemon.ts'

const bob = 'full-token-of-bob-91c2'
const patience = { timeout: 30_000 }
let daemon: TestDaemon
beforeAll(async () => {
  daemon = await openDaemon({
    tokens: [
      { name: 'alice', token, access: 'full' },
      { name: 'bob', token: bob, access: 'full' },
      { name: 'viewer', token: 'read-token-5a2e9b7c41d80f36', access: 'read' },
    ],
  })
})
afterAll(() => daemon.close())

let count = 0
const newId = () => `call-of-test-${++count}`

/** Starts a command under an id, and waits until it runs, which a file shows. */
async function started(id: string, command = 'sleep 600'): Promise<{ response: Promise<Response> }> {
  const mark = `${id}-runs`
  const response = exec(id, { command: `touch ${mark}; ${command}` })
  response.catch(() => undefined)
  await expect
    .poll(async () => (await daemon.call('GET', `/v1/files/exists?path=${mark}`)).exists, patience)
    .toBe(true)
  return { response }
}

function exec(id: string, body: object, headers: Record<string, string> = {}): Promise<Response> {
  const { body: text, headers: type } = jsonBody(body)
  return daemon.fetch('/v1/exec', {
    method: 'POST',
    body: text,
    headers: { ...type, 'vitrine-call': id, ...headers },
  })
}

function cancelCall(id: string, as: string = token): Promise<Response> {
  return daemon.fetch(`/v1/calls/${id}`, { method: 'DELETE', headers: bearer(as) })
}

async function finishedExecs(): Promise<ResponseJson[]> {
  const events = await allEvents(daemon, '&types=operation.finished')
  return events.filter(({ data }) => data.op === 'exec').map(({ data }) => data)
}

describe('a call with an id', () => {
  it('can be cancelled and still responds with its outcome', async () => {
    const id = newId()
    const outputs = async () => (await allEvents(daemon, '&types=process.output')).length
    const before = await outputs()
    const { response: pending } = await started(id, 'echo so far; sleep 600')
    await expect.poll(outputs).toBe(before + 1)
    expect((await cancelCall(id)).status).toBe(204)
    const response = await pending
    expect(response.status).toBe(200)
    expect(await response.json()).toMatchObject({
      outcome: 'cancelled',
      exitCode: null,
      stdout: 'so far\n',
    })
  })

  it('has ended and is recorded when its cancellation responds', async () => {
    const id = newId()
    const before = (await finishedExecs()).length
    const { response } = await started(id)
    await cancelCall(id)
    const finished = await finishedExecs()
    expect(finished).toHaveLength(before + 1)
    expect(finished.at(-1)).toMatchObject({ outcome: 'cancelled' })
    await (await response).text()
  })

  it('is cancelled alone: other calls of the same caller continue', async () => {
    const [one, other] = [newId(), newId()]
    const { response: first } = await started(one)
    const { response: second } = await started(other, 'while [ ! -e go-on ]; do sleep 0.05; done; echo whole')
    await cancelCall(one)
    expect(((await (await first).json()) as ResponseJson).outcome).toBe('cancelled')
    await daemon.call('PUT', '/v1/files/content?path=go-on')
    expect(await (await second).json()).toMatchObject({ outcome: 'ok', stdout: 'whole\n' })
  })

  it('is not cancelled by another token, which learns nothing about it', async () => {
    const id = newId()
    const { response } = await started(id, 'while [ ! -e not-yet ]; do sleep 0.05; done; echo whole')
    expect((await cancelCall(id, bob)).status).toBe(204)
    expect((await cancelCall('there-is-no-such-call', bob)).status).toBe(204)
    expect((await problemOf(await cancelCall(id, 'read-token-5a2e9b7c41d80f36'))).code).toBe('access_denied')
    expect((await problemOf(await cancelCall(id, 'wrong-token-0000'))).code).toBe('token_invalid')
    await daemon.call('PUT', '/v1/files/content?path=not-yet')
    expect(await (await response).json()).toMatchObject({ outcome: 'ok', stdout: 'whole\n' })
  })

  it('a call that has ended or is unknown can be cancelled without an error', async () => {
    const id = newId()
    await (await exec(id, { command: 'true' })).text()
    expect((await cancelCall(id)).status).toBe(204)
    expect((await cancelCall('never-was-there')).status).toBe(204)
  })

  it('may be cancelled twice', async () => {
    const id = newId()
    const { response } = await started(id)
    const responses = await Promise.all([cancelCall(id), cancelCall(id)])
    expect(responses.map(({ status }) => status)).toEqual([204, 204])
    expect(((await (await response).json()) as ResponseJson).outcome).toBe('cancelled')
  })

  it('a call that was cancelled before its start runs nothing, and is recorded', async () => {
    const id = newId()
    const before = (await finishedExecs()).length
    const response = await exec(id, { command: 'touch never-made' }, { 'vitrine-cancelled': 'true' })
    const body = (await response.json()) as ResponseJson
    expect(body.outcome ?? body.code).toBe('cancelled')
    expect((await daemon.call('GET', '/v1/files/exists?path=never-made')).exists).toBe(false)
    const finished = await finishedExecs()
    expect(finished).toHaveLength(before + 1)
    expect(finished.at(-1)).toMatchObject({ outcome: 'cancelled' })
  })

  it('owns its id while it runs, and another call may use it afterwards', async () => {
    const id = newId()
    const { response } = await started(id)
    const second = await exec(id, { command: 'touch twice' })
    expect(await problemOf(second)).toMatchObject({
      status: 400,
      code: 'argument_invalid',
      detail: `vitrine-call: a call with the id ${id} is running.`,
    })
    expect((await daemon.call('GET', '/v1/files/exists?path=twice')).exists).toBe(false)
    await cancelCall(id)
    await (await response).text()
    expect(await (await exec(id, { command: 'echo again' })).json()).toMatchObject({ stdout: 'again\n' })
  })

  it.each(['short', 'x'.repeat(129), 'with space', 'a/../../b', 'semi;colon', '', '%00%00%00%00'])(
    'is refused if the id is malformed: %j',
    async (id) => {
      const response = await exec(id, { command: 'touch with-bad-id' })
      const problem = await problemOf(response)
      expect(problem).toMatchObject({ status: 400, code: 'argument_invalid' })
      expect(problem.detail).toContain(', got "')
      expect((await daemon.call('GET', '/v1/files/exists?path=with-bad-id')).exists).toBe(false)
    },
  )

  it('a call that writes a file leaves nothing of it when it is cancelled half-way', async () => {
    const id = newId()
    let feed: ReadableStreamDefaultController<Uint8Array> | undefined
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        feed = controller
      },
    })
    const writing = daemon.fetch('/v1/files/content?path=half.bin', {
      method: 'PUT',
      body,
      duplex: 'half',
      headers: { 'vitrine-call': id },
    } as RequestInit)
    feed?.enqueue(new Uint8Array(100_000))
    await expect
      .poll(
        async () =>
          (await allEvents(daemon, '&types=operation.started')).filter(
            ({ data }) => data.path === 'half.bin',
          ),
        patience,
      )
      .toHaveLength(1)
    expect((await cancelCall(id)).status).toBe(204)
    expect(await problemOf(await writing)).toMatchObject({ status: 499, code: 'cancelled' })
    expect((await daemon.call('GET', '/v1/files/exists?path=half.bin')).exists).toBe(false)
  })

  it('ends also when its connection is dropped, and its id is free again', async () => {
    const id = newId()
    const gone = new AbortController()
    const { body, headers } = jsonBody({ command: 'touch dropped-runs; sleep 600' })
    const dropped = daemon.fetch('/v1/exec', {
      ...{ method: 'POST', body, signal: gone.signal },
      headers: { ...headers, 'vitrine-call': id },
    })
    dropped.catch(() => undefined)
    await expect
      .poll(async () => (await daemon.call('GET', '/v1/files/exists?path=dropped-runs')).exists, patience)
      .toBe(true)
    gone.abort()
    await expect.poll(async () => (await exec(id, { command: 'echo free' })).status, patience).toBe(200)
    expect((await finishedExecs()).at(-2)).toMatchObject({ outcome: 'cancelled' })
  })
})
