import { readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import {
  allEvents,
  bearer,
  dataFolder,
  jsonBody,
  openDaemon,
  problemOf,
  readToken,
  type TestDaemon,
  token,
} from '../daemon.ts'
import { dialSocket, refusalOf, terminalPath } from '../sockets/dialling.ts'

const secret = 'hushed-value-3f9c1b7d2e'

/** Everything that is printed while a test runs. */
function printed(): () => string {
  let text = ''
  const keep = (chunk: unknown) => {
    text += String(chunk)
    return true
  }
  const spies = [
    vi.spyOn(process.stdout, 'write').mockImplementation(keep),
    vi.spyOn(process.stderr, 'write').mockImplementation(keep),
    ...(['log', 'info', 'warn', 'error', 'debug'] as const).map((name) =>
      vi.spyOn(console, name).mockImplementation((...words) => void keep(words.join(' '))),
    ),
  ]
  onTestFinished(() => {
    for (const spy of spies) spy.mockRestore()
  })
  return () => text
}

async function wholeRecord(daemon: TestDaemon): Promise<string> {
  const events = [...(await allEvents(daemon)), ...(await allEvents(daemon, '&scope=all'))]
  return JSON.stringify(events)
}

describe('a secret that was granted', () => {
  it('is in no event, problem, page or log line', async () => {
    const lines = printed()
    await using daemon = await openDaemon()
    const responses: string[] = []
    const call = async (method: string, path: string, body?: object) => {
      const response = await daemon.fetch(path, { method, ...(body && jsonBody(body)) })
      responses.push(`${response.status} ${await response.text()}`)
    }
    await call('POST', '/v1/sessions', {
      agent: 'demo',
      id: 'talk',
      env: { VITRINE_DEMO_PACE: '0' },
      credentials: { DEMO_API_KEY: secret },
    })
    for (const content of [
      '/env-value DEMO_API_KEY',
      `/say I know ${secret}`,
      `/error -32603 bad key ${secret}`,
    ])
      await call('POST', '/v1/sessions/talk/prompt?wait=true', { prompt: content })
    await call('GET', '/v1/sessions/talk/transcript')
    await call('GET', '/v1/sessions')
    await call('GET', '/v1/agents/demo')
    await call('GET', '/v1/events?limit=1000')
    await call('GET', `/v1/events?limit=1000&text=${secret}`)
    await daemon.call('POST', '/v1/exec', { command: `echo ${secret}; exit 3`, env: { KEY: secret } })
    const { id } = await daemon.call('POST', '/v1/processes', { command: 'echo', args: [secret] })
    await daemon.call('GET', `/v1/processes/${id}?wait=10000`)
    await call('GET', `/v1/processes/${id}/logs`)
    // The agent's message in the prompt's response goes only to the caller that owns the conversation.
    const [failure, ...others] = responses.filter((response) => response.startsWith('502'))
    expect(failure).toContain('agent_failed')
    expect(others).toEqual([])
    for (const response of responses.filter((one) => one !== failure)) {
      expect(response.includes(secret), response.slice(0, 300)).toBe(false)
      expect(response.includes(btoa(secret)), response.slice(0, 300)).toBe(false)
    }
    const record = await wholeRecord(daemon)
    expect(record.includes('[redacted')).toBe(true)
    expect(record.includes(secret)).toBe(false)
    expect(lines()).not.toContain(secret)
  })

  it('is not repeated in the error for a body or query that contains it', async () => {
    await using daemon = await openDaemon()
    daemon.host.store.addSecret('KEY', secret)
    for (const [path, body] of [
      ['/v1/exec', `{"command":"echo ${secret}`],
      ['/v1/exec', JSON.stringify({ command: 'true', env: { KEY: [secret] } })],
      ['/v1/sessions', JSON.stringify({ agent: 'demo', credentials: secret })],
      ['/v1/sessions', JSON.stringify({ agent: 'demo', credentials: { KEY: [secret] } })],
      ['/v1/sandboxes', JSON.stringify({ [secret.slice(0, 6)]: 1, local: secret })],
      ['/v1/files/mkdir', JSON.stringify({ path: 5, user: secret })],
    ] as const) {
      const headers = { 'content-type': 'application/json' }
      const response = await daemon.fetch(path, { method: 'POST', body, headers })
      expect(response.status).toBe(400)
      expect(await response.text()).not.toContain(secret)
    }
  })
})

describe('secrets of a command or a sandbox', () => {
  it('are given to commands, and are in no event', async () => {
    await using daemon = await openDaemon()
    const secrets = { API_KEY: secret }
    const { stdout } = await daemon.call('POST', '/v1/exec', { command: 'echo $API_KEY', secrets })
    expect(stdout).toBe(`${secret}\n`)
    const { id } = await daemon.call('POST', '/v1/processes', {
      command: 'echo $API_KEY',
      shell: 'sh',
      secrets,
    })
    expect(await daemon.call('GET', `/v1/processes/${id}?wait=10000`)).toMatchObject({ exitCode: 0 })
    const record = await wholeRecord(daemon)
    expect(record).toContain('[redacted:API_KEY]')
    expect(record).not.toContain(secret)
  })

  it('are refused in the address of a request', async () => {
    await using daemon = await openDaemon()
    const options = JSON.stringify({ command: 'true', secrets: { API_KEY: secret } })
    const response = await daemon.fetch(`/v1/exec/input?options=${encodeURIComponent(options)}`, {
      method: 'POST',
      headers: { 'content-type': 'application/octet-stream' },
      body: 'x',
    })
    expect(response.status).toBe(400)
    const problem = await response.text()
    expect(problem).toContain('query.options.secrets')
    expect(problem).not.toContain(secret)
  })

  it('are asked for by every call on a sandbox that a later daemon attaches', async () => {
    const data = dataFolder()
    onTestFinished(() => rmSync(data, { recursive: true, force: true }))
    const local = { isolation: 'none' }
    const first = await openDaemon({ data })
    await first.call('POST', '/v1/sandboxes', { id: 'keyed', local, secrets: { API_KEY: secret } })
    await first.close()
    await using daemon = await openDaemon({ data })
    const path = '/v1/sandboxes/keyed'
    for (const [call, body] of [
      [`${path}/exec`, { command: 'true' }],
      [`${path}/attach`, {}],
    ] as const) {
      const response = await daemon.fetch(call, { method: 'POST', ...jsonBody(body) })
      expect(response.status).toBe(409)
      expect(await response.json()).toMatchObject({
        code: 'secret_missing',
        detail: expect.stringMatching(/API_KEY.*`POST \/v1\/sandboxes\/keyed\/attach`/),
      })
    }
    await daemon.call('POST', `${path}/attach`, { secrets: { API_KEY: secret } })
    const { stdout } = await daemon.call('POST', `${path}/exec`, { command: 'echo $API_KEY' })
    expect(stdout).toBe(`${secret}\n`)
    expect(await wholeRecord(daemon)).not.toContain(secret)
    const renewed = 'renewed-value-2be60f91'
    await daemon.call('POST', `${path}/attach`, { secrets: { API_KEY: renewed } })
    const later = await daemon.call('POST', `${path}/exec`, { command: 'echo $API_KEY' })
    expect(later.stdout).toBe(`${renewed}\n`)
    expect(await wholeRecord(daemon)).not.toContain(renewed)
  })

  it('are refused when no more values can be masked', async () => {
    await using daemon = await openDaemon()
    for (let index = 10; index < 73; index += 1)
      daemon.host.store.addSecret('BIG', `${index}${'x'.repeat(64 * 1024 - 2)}`)
    const response = await daemon.fetch('/v1/exec', {
      method: 'POST',
      ...jsonBody({ command: 'touch ran', secrets: { API_KEY: 'y'.repeat(64 * 1024) } }),
    })
    expect(response.status).toBe(507)
    expect(await problemOf(response)).toMatchObject({ code: 'secret_limit', retryable: true })
    expect((await daemon.call('POST', '/v1/exec', { command: 'ls' })).stdout).toBe('')
  })
})

describe('the token', () => {
  it('is masked in every event, also of a command that prints it, in any encoding', async () => {
    await using daemon = await openDaemon()
    for (const one of [token, readToken]) {
      await daemon.call('POST', '/v1/exec', { command: `echo ${one}; echo ${one} | base64 -w 10` })
      await daemon.call('POST', '/v1/files/mkdir', { path: `folder-${one}` })
    }
    const record = await wholeRecord(daemon)
    for (const one of [token, readToken]) {
      expect(record).not.toContain(one)
      expect(record).not.toContain(btoa(one).slice(0, 10))
    }
    expect(record).toContain('[redacted:token_of_alice]')
    expect(record).toContain('[redacted:token_of_viewer]')
  })

  it('is in no response, event, log line or file', async () => {
    const lines = printed()
    await using daemon = await openDaemon()
    const responses: string[] = []
    for (const [path, init] of [
      ['/v1/health', {}],
      ['/v1/nothing', {}],
      [`/v1/health?access_token=${token}`, { headers: bearer('wrong-token-0000') }],
      [`/v1/events?after=garbage`, {}],
      ['/v1/exec', { method: 'POST', headers: bearer(readToken) }],
      ['/v1/health', { headers: { authorization: `Bearer ${token}x` } }],
      ['/v1/health', { headers: { authorization: `Basic ${token}` } }],
      ['/v1/health', { headers: { origin: 'https://evil.example' } }],
      ['/v1/exec', { method: 'POST', ...jsonBody({ command: 'env; cat /proc/$PPID/environ' }) }],
      ['/metrics', {}],
    ] as const) {
      const response = await daemon.fetch(path, init)
      responses.push(`${response.status} ${JSON.stringify([...response.headers])} ${await response.text()}`)
    }
    const { id } = await daemon.call('POST', '/v1/processes', { command: 'cat' })
    const socket = dialSocket(daemon, `${terminalPath(id)}?access_token=${token}`)
    await expect.poll(() => socket.messages[0]?.type).toBe('ready')
    socket.socket.close()
    responses.push(
      JSON.stringify(await refusalOf(dialSocket(daemon, `${terminalPath(id)}?access_token=${token}x`))),
    )
    const record = await wholeRecord(daemon)
    for (const one of [token, readToken]) {
      expect(responses.join('\n').includes(one)).toBe(false)
      expect(record.includes(one)).toBe(false)
      expect(lines()).not.toContain(one)
    }
    expect(filesWith(daemon.data, token)).toEqual([])
  })
})

function filesWith(folder: string, text: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((name) => join(folder, name))
    .filter(
      (path) => statSync(path, { throwIfNoEntry: false })?.isFile() && readFileSync(path).includes(text),
    )
}
