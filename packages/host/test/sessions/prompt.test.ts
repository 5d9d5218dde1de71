import { mkdtempSync, rmSync } from 'node:fs'
import type { PromptResult } from '@vitrine/protocol'
import { local } from '@vitrine/sandbox'
import { expect, it, onTestFinished } from 'vitest'
import { openHost } from '../../src/index.ts'
import {
  allEvents,
  checkLaws,
  closeSharedSceneAfterAll,
  endSessions,
  eventsOf,
  failure,
  open,
  promptForText,
  saidIn,
  scene,
  script,
  sharedScene,
  until,
} from './fixture.ts'

closeSharedSceneAfterAll()

const base64 = (bytes: number) => Buffer.alloc(bytes, 7).toString('base64')

it('has the cost of each turn and the context after it, in the result and on record', async () => {
  const sandbox = await sharedScene()
  const session = await open(sandbox)
  const results = [await session.prompt('/usage'), await session.prompt('/usage', { turn: 'turn_paid' })]
  const finished = await eventsOf(sandbox, 'turn.finished')
  for (const [index, { cost, context }] of results.entries()) {
    expect(cost).toEqual({ amount: expect.any(Number), currency: 'USD' })
    expect(context).toEqual({ used: expect.any(Number), size: expect.any(Number) })
    expect(finished[index]?.data).toMatchObject({ cost, context })
  }
  expect(await session.prompt('/usage', { turn: 'turn_paid' })).toEqual(results[1])
  expect((await session.prompt('/say nothing of it')).cost).toBeUndefined()
  const sum = results.reduce((total, { cost }) => total + (cost?.amount ?? 0), 0)
  expect(await session.transcript()).toMatchObject({
    turns: [
      ...results.map(({ cost }) => ({ cost })),
      expect.not.objectContaining({ cost: expect.anything() }),
    ],
    usage: { cost: { amount: expect.closeTo(sum) } },
  })
})

it('accepts text, images, audio, links and files', async () => {
  const sandbox = await sharedScene()
  const session = await open(sandbox)
  const { turn, outcome, stopReason, usage } = await session.prompt([
    { type: 'text', text: '/echo' },
    { type: 'image', mimeType: 'image/png', data: base64(300) },
    { type: 'audio', mimeType: 'audio/wav', data: base64(400) },
    { type: 'resource_link', uri: 'file:///a.txt', name: 'a.txt', size: 9 },
    { type: 'resource', resource: { uri: 'file:///b.txt', text: 'héllo' } },
    { type: 'resource', resource: { uri: 'file:///c.bin', blob: base64(500) } },
  ])
  expect({ outcome, stopReason }).toEqual({ outcome: 'ok', stopReason: 'end_turn' })
  expect(usage?.totalTokens).toBeGreaterThan(0)
  expect((await saidIn(sandbox, { turn })).split('\n')).toEqual([
    'text, 5 bytes',
    'image, image/png, 300 bytes',
    'audio, audio/wav, 400 bytes',
    'resource_link, file:///a.txt, 9 bytes',
    'resource, file:///b.txt, 6 bytes',
    'resource, file:///c.bin, 500 bytes',
  ])
  const [started] = await eventsOf(sandbox, 'turn.started')
  expect(started?.data.prompt).toMatchObject([
    { type: 'text', text: '/echo' },
    { type: 'image', mimeType: 'image/png', bytes: 300 },
    { type: 'audio', bytes: 400 },
    { type: 'resource_link', uri: 'file:///a.txt' },
    { type: 'resource', bytes: 6 },
    { type: 'resource', bytes: 500 },
  ])
})

it('accepts far more than 2 MiB, and records every byte', async () => {
  const data = mkdtempSync('/var/tmp/vitrine-test-')
  const host = await openHost({ data, providers: [local({ isolation: 'none' })], install: 'never' })
  onTestFinished(async () => {
    await host.close()
    rmSync(data, { recursive: true, force: true })
  })
  const sandbox = await host.create()
  const session = await open(sandbox)
  const long = Array.from({ length: 400_000 }, (_, n) => `line ${n}`).join('\n')
  expect(Buffer.byteLength(long)).toBeGreaterThan(4 * 1024 * 1024)
  const { turn } = await session.prompt([
    { type: 'text', text: '/echo' },
    { type: 'resource', resource: { uri: 'file:///long.txt', text: long } },
  ])
  expect(await saidIn(sandbox, { turn })).toContain(
    `resource, file:///long.txt, ${Buffer.byteLength(long)} bytes`,
  )
  const messages = await eventsOf(sandbox, 'agent.message', { turn })
  const [asked] = messages.filter(({ data: { direction } }) => direction === 'in')
  const [, hash = ''] = /"blob":"(sha256:[0-9a-f]{64})"/.exec(JSON.stringify(asked?.data)) ?? []
  const { stream } = await host.store.getBlob(hash)
  expect((await new Response(stream).text()) === long).toBe(true)
  await endSessions(sandbox)
  await checkLaws(sandbox.journal)
})

it('refuses an invalid prompt before a turn starts', async () => {
  const sandbox = await sharedScene()
  const session = await open(sandbox)
  expect(await failure(session.prompt([]))).toMatchObject({ code: 'argument_invalid' })
  const odd = await failure(session.prompt([{ type: 'hologram' }]))
  expect(odd.code).toBe('argument_invalid')
  expect(odd.message).toContain('hologram')
  expect(await eventsOf(sandbox, 'turn.started')).toEqual([])
})

it('sends files as text to an agent without file support, and refuses unsupported images', async () => {
  const plain = script(
    'plain',
    `on('session/prompt', ({ id, sessionId, prompt }) => {
      say(sessionId, JSON.stringify(prompt))
      reply(id, { stopReason: 'end_turn' })
    })`,
  )
  const sandbox = await scene({ agents: [plain] })
  const session = await sandbox.openSession({ agent: 'plain' })
  const picture = await failure(session.prompt([{ type: 'image', mimeType: 'image/png', data: base64(3) }]))
  expect(picture.code).toBe('unsupported')
  expect(picture.message).toContain('plain does not accept image content')
  const { turn } = await session.prompt([
    { type: 'resource', resource: { uri: 'file:///b.txt', text: 'inside' } },
  ])
  expect(JSON.parse(await saidIn(sandbox, { turn }))).toEqual([
    { type: 'text', text: 'file:///b.txt:\n\ninside' },
  ])
  expect(await eventsOf(sandbox, 'turn.started')).toHaveLength(1)
})

it('runs one turn at a time, in order', async () => {
  const sandbox = await sharedScene()
  const session = await open(sandbox)
  const results = await Promise.all(['/say 1', '/say 2', '/say 3'].map((prompt) => session.prompt(prompt)))
  const turns = await allEvents(sandbox.journal, ['turn.*'])
  expect(turns.map(({ type, turn }) => [type, turn])).toEqual(
    results.flatMap(({ turn }) => [
      ['turn.started', turn],
      ['turn.finished', turn],
    ]),
  )
  expect(turns.filter(({ type }) => type === 'turn.started').map(({ data }) => data.index)).toEqual([0, 1, 2])
})

it('refuses a second prompt when the queue is disabled', async () => {
  const sandbox = await sharedScene()
  const session = await open(sandbox, { queue: 0 })
  const running = session.prompt('/stall')
  expect(await failure(session.prompt('/say no'))).toMatchObject({ code: 'session_busy', retryable: true })
  await session.cancel()
  expect(await running).toMatchObject({ outcome: 'cancelled' })
  expect(await promptForText(sandbox, session, '/say free')).toBe('free')
})

it('limits the queue of prompts, and a cancel resolves all of them', async () => {
  const sandbox = await sharedScene()
  const session = await open(sandbox, { queue: 2 })
  const all = [session.prompt('/stall'), session.prompt('/say 2'), session.prompt('/say 3')]
  expect(await failure(session.prompt('/say 4'))).toMatchObject({ code: 'session_queue_full' })
  await until(sandbox, 'turn.started')
  await session.cancel()
  expect((await Promise.all(all)).map(({ outcome }) => outcome)).toEqual([
    'cancelled',
    'cancelled',
    'cancelled',
  ])
  expect(await eventsOf(sandbox, 'turn.started')).toHaveLength(1)
  expect(await promptForText(sandbox, session, '/say on')).toBe('on')
})

it('rejects queued prompts when the session closes, and later ones', async () => {
  const sandbox = await sharedScene()
  const session = await open(sandbox)
  const running = session.prompt('/stall')
  const waiting = failure(session.prompt('/say never'))
  await until(sandbox, 'turn.started')
  await session.close()
  expect(await running).toMatchObject({ outcome: 'cancelled' })
  expect(await waiting).toMatchObject({ code: 'session_closed' })
  const late = await failure(session.prompt('/say late'))
  expect(late).toMatchObject({ code: 'session_closed' })
  expect(late.message).toContain('demo')
  expect(await failure(session.setMode('auto'))).toMatchObject({ code: 'session_closed' })
  expect(await failure(session.fork())).toMatchObject({ code: 'session_closed' })
  await session.close()
  await session.cancel()
})

it('obeys a signal before the prompt, while it is queued, and while it runs', async () => {
  const sandbox = await sharedScene()
  const session = await open(sandbox)
  expect(await session.prompt('/say no', { signal: AbortSignal.abort() })).toMatchObject({
    outcome: 'cancelled',
  })
  expect(await eventsOf(sandbox, 'turn.started')).toEqual([])
  const running = new AbortController()
  const waiting = new AbortController()
  const first = session.prompt('/stall', { signal: running.signal })
  const second = session.prompt('/say no', { signal: waiting.signal })
  const third = session.prompt('/say yes')
  await until(sandbox, 'agent.message', ({ data }) => JSON.stringify(data).includes('/stall'))
  waiting.abort()
  expect(await second).toMatchObject({ outcome: 'cancelled' })
  running.abort()
  expect(await first).toMatchObject({ outcome: 'cancelled', stopReason: 'cancelled' })
  expect(await third).toMatchObject({ outcome: 'ok' })
  expect(await eventsOf(sandbox, 'turn.started')).toHaveLength(2)
})

it('obeys a signal while the turn is being prepared', async () => {
  const sandbox = await sharedScene()
  const session = await open(sandbox)
  const stopping = new AbortController()
  const prompted = session.prompt('/stall', { signal: stopping.signal })
  stopping.abort()
  expect(await prompted).toMatchObject({ outcome: 'cancelled' })
  expect(await promptForText(sandbox, session, '/say next')).toBe('next')
})

it('settles only after the end of the turn is recorded', async () => {
  const sandbox = await sharedScene()
  const session = await open(sandbox)
  const finished: string[] = []
  session.onEvent(({ type, turn }) => void (type === 'turn.finished' && finished.push(String(turn))))
  const results: PromptResult[] = []
  for (const n of [1, 2, 3]) {
    results.push(await session.prompt(`/say ${n}`))
    const ends = await eventsOf(sandbox, 'turn.finished')
    expect(ends.map(({ turn }) => turn)).toEqual(results.map(({ turn }) => turn))
  }
})

it('returns the agent’s stop reason', async () => {
  const sandbox = await sharedScene()
  const session = await open(sandbox)
  expect(await session.prompt('/refuse')).toMatchObject({ outcome: 'ok', stopReason: 'refusal' })
  expect(await session.prompt('/max-tokens')).toMatchObject({ outcome: 'ok', stopReason: 'max_tokens' })
  const refused = await failure(session.prompt('/error -32603 The model is asleep'))
  expect(refused).toMatchObject({ code: 'agent_failed', details: { agent: 'demo', code: -32_603 } })
  expect(refused.message).toContain('The model is asleep')
  const odd = await failure(session.prompt('/error 400 Bad request'))
  expect(odd).toMatchObject({ code: 'agent_failed', details: { code: 400 } })
  expect((await eventsOf(sandbox, 'turn.finished')).map(({ data }) => data.outcome)).toEqual([
    'ok',
    'ok',
    'failed',
    'failed',
  ])
  expect(await promptForText(sandbox, session, '/say fine')).toBe('fine')
})

it('reports a model error although the turn ended with success', async () => {
  const sandbox = await sharedScene()
  const session = await open(sandbox)
  const spoken = await session.prompt('/model-error')
  expect(spoken).toMatchObject({ outcome: 'ok', stopReason: 'end_turn', modelError: { sign: 'message' } })
  expect(spoken.modelError?.text).toContain('API Error: 400')
  expect(await session.prompt('/silence')).toMatchObject({ outcome: 'ok', modelError: { sign: 'silence' } })
  expect((await session.prompt('/say Error handling is a topic')).modelError).toBeUndefined()
  expect((await session.prompt('/tool-first')).modelError).toBeUndefined()
  expect((await eventsOf(sandbox, 'turn.finished')).map(({ data }) => data.modelError)).toMatchObject([
    { sign: 'message' },
    { sign: 'silence' },
    undefined,
    undefined,
  ])
})
