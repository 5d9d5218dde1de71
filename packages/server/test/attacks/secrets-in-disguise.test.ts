import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { allEvents, openDaemon, type ResponseJson, type TestDaemon, token } from '../daemon.ts'
import { dialSocket, terminalPath } from '../sockets/dialling.ts'

const secret = 'hushed-value-3f9c1b7d2e-5a60'
const patience = { timeout: 30_000 }
const env = { KEY: secret }
let daemon: TestDaemon
beforeAll(async () => {
  daemon = await openDaemon()
  daemon.host.store.addSecret('KEY', secret)
})
afterAll(() => daemon.close())

const base64 = (text: string) => Buffer.from(text).toString('base64').replaceAll('=', '')
/** As it is, and what is the same in every base64 of it, wherever it begins. */
const forms = [secret, ...[0, 1, 2].map((shift) => base64('\0'.repeat(shift) + secret).slice(4, -4))]

function nothingIn(text: string, where: string): void {
  for (const form of forms) {
    const at = text.indexOf(form)
    expect(at === -1 ? '' : text.slice(Math.max(0, at - 80), at + 80), where).toBe('')
  }
}

async function run(body: object): Promise<string> {
  const { id } = await daemon.call('POST', '/v1/processes', { env, ...body })
  await daemon.call('GET', `/v1/processes/${id}?wait=50000`)
  return id
}

async function recorded(id: string): Promise<string> {
  const { entries } = await daemon.call('GET', `/v1/processes/${id}/logs`)
  return entries.map(({ data }: ResponseJson) => Buffer.from(data, 'base64').toString()).join('')
}

const shell = (command: string) => ({ command, shell: true })
const slowly = (part: string) =>
  `i=0; while [ $i -lt \${#KEY} ]; do printf %s "$(printf %s "$KEY" | cut -c$((i+1))-$((i+${part})))"; i=$((i+${part})); sleep 0.01; done; echo`

describe('a secret that a program prints', () => {
  it.each([
    ['as it is', shell('echo "key=$KEY;"')],
    ['on stderr', shell('echo "key=$KEY;" >&2')],
    ['in base64', shell('printf %s "$KEY" | base64 -w0')],
    ['in base64, one byte later', shell('printf x%s "$KEY" | base64 -w0')],
    ['in base64, two bytes later', shell('printf xx%s "$KEY" | base64 -w0')],
    ['in two parts', shell(slowly('14'))],
    ['letter by letter', shell(slowly('1'))],
    ['between much else', shell('head -c 65530 /dev/zero | tr "\\0" x; echo "$KEY"; yes | head -c 100000')],
    ['in a terminal', { ...shell('echo "key=$KEY;"'), tty: true }],
    ['in a terminal, letter by letter', { ...shell(slowly('1')), tty: true }],
    ['in a terminal, in base64', { ...shell('printf %s "$KEY" | base64 -w0'), tty: true }],
  ])('is not in its record: %s', async (_how, body) => {
    const id = await run(body)
    const text = await recorded(id)
    expect(text.length).toBeGreaterThan(0)
    nothingIn(text, 'the log')
    const events = (await allEvents(daemon)).filter(({ data }) => data.process === id)
    expect(events.length).toBeGreaterThan(1)
    const printed = events.filter(({ type }) => type === 'process.output')
    nothingIn(printed.map(({ data }) => data.data).join(''), 'the events, joined')
    nothingIn(JSON.stringify(events), 'the events')
  })

  it('is still in the response to the caller', async () => {
    const { stdout } = await daemon.call('POST', '/v1/exec', { command: 'echo "$KEY"', env })
    expect(stdout).toBe(`${secret}\n`)
  })
})

it('a typed secret is not in the recording of a terminal, typed at once or character by character', async () => {
  const { id } = await daemon.call('POST', '/v1/processes', { command: 'cat', tty: true })
  const socket = dialSocket(daemon, terminalPath(id), { token })
  await socket.opened
  socket.sendJson({ type: 'input', data: `${secret}\n` })
  await expect.poll(() => socket.output.split(secret).length, patience).toBe(3)
  for (const letter of `${secret}\n`) socket.sendJson({ type: 'input', data: letter })
  await expect.poll(() => socket.output.split(secret).length, patience).toBe(5)
  socket.sendJson({ type: 'input', data: '\x04' })
  await socket.closed
  nothingIn(await recorded(id), 'the recording')
  const events = (await allEvents(daemon)).filter(({ data }) => data.process === id)
  nothingIn(JSON.stringify(events), 'the events')
})

it('a secret is not in the record of an operation that failed because of it', async () => {
  const refused: [string, string, object | undefined][] = [
    ['POST', '/v1/exec', { command: [`no-such-${secret}`] }],
    ['POST', '/v1/exec', { command: 'true', cwd: secret }],
    ['POST', '/v1/exec', { command: 'true', user: secret }],
    ['GET', `/v1/files/content?path=${secret}`, undefined],
    ['POST', '/v1/files/move', { from: secret, to: `${secret}/b` }],
    ['GET', `/v1/processes/${secret}`, undefined],
    ['GET', `/v1/files/content?path=${encodeURIComponent(`../${secret}`)}`, undefined],
  ]
  for (const [method, path, body] of refused) {
    const response = await daemon.fetch(path, {
      method,
      ...(body && { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
    })
    expect(response.ok, path).toBe(false)
  }
  const events = await allEvents(daemon)
  expect(events.filter(({ data }) => data.ok === false).length).toBeGreaterThan(3)
  nothingIn(JSON.stringify(events), 'the events')
})

it('a secret is in no stream, page, summary, blob or file of the store', async () => {
  await daemon.call('POST', '/v1/exec', {
    command: 'echo "a $KEY b" > written.txt; echo "$KEY" > "$KEY.txt"',
    env,
  })
  await daemon.call('POST', '/v1/files/flush')
  await daemon.call('POST', '/v1/events', {
    events: [{ type: 'log.message', data: { level: 'info', message: `of ${secret} and ${base64(secret)}` } }],
  })
  const events = [...(await allEvents(daemon)), ...(await allEvents(daemon, '&scope=all'))]
  nothingIn(JSON.stringify(events), 'the events')
  const hashes = new Set(JSON.stringify(events).match(/sha256:[0-9a-f]{64}/g))
  expect(hashes.size).toBeGreaterThan(0)
  for (const hash of hashes) nothingIn(await (await daemon.fetch(`/v1/blobs/${hash}`)).text(), hash)
  nothingIn(await (await daemon.fetch('/v1/events/summary')).text(), 'the summary')
  nothingIn(await (await daemon.fetch('/metrics')).text(), 'the metrics')
  const { root } = await daemon.call('POST', `/v1/sandboxes/${daemon.sandbox}/attach`)
  const kept = readdirSync(daemon.data, { recursive: true, encoding: 'utf8' })
    .map((name) => join(daemon.data, name))
    .filter((path) => !path.startsWith(root) && statSync(path, { throwIfNoEntry: false })?.isFile())
  expect(kept.length).toBeGreaterThan(0)
  for (const path of kept) nothingIn(readFileSync(path, 'latin1'), path)
})
