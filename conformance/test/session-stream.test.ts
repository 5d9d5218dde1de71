import { getEventListeners } from 'node:events'
import type { StreamPiece } from '@vitrine/protocol'
import { listTranscript, type Transcript } from '@vitrine/views'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { eventually } from '../src/waiting/within.ts'
import { readStream, StreamScene } from './session-streams.ts'

const everything = '/think Short.\n/write note.txt hello\n/usage\n/say One.\n/say Two.'

let scene: StreamScene
beforeAll(async () => {
  scene = await StreamScene.open()
}, 60_000)
afterAll(() => scene.close())

const ways = [
  ['in process', 'inProcess'],
  ['over HTTP', 'overHttp'],
] as const

const badPrompts: readonly (readonly [prompt: unknown, message: string])[] = [
  [42, 'prompt: expected a text or an array of parts, got 42.'],
  [10n, 'prompt: expected a text or an array of parts, got 10n.'],
  [null, 'prompt: expected a text or an array of parts, got null.'],
  [undefined, 'prompt: expected a text or an array of parts, got undefined.'],
  [{ text: 'hello' }, 'prompt: expected a text or an array of parts, got {"text":"hello"}.'],
  [[], 'prompt: expected a text or at least one part, got [].'],
  ['', 'prompt: expected a text that is not blank, got "".'],
  [
    [{ type: 'text', text: ' ' }],
    'prompt: expected a text that is not blank, got [{"type":"text","text":" "}].',
  ],
  [['hello'], 'prompt[0]: expected an object such as { type: "text", text: "hello" }, got "hello".'],
  [
    [{ type: 'html' }],
    'prompt[0].type: expected one of text, image, audio, resource, resource_link, got "html".',
  ],
  [[{ type: 'text', text: 5 }], 'prompt[0].text: expected a string, got 5.'],
  [[{ type: 'image', data: 'AAAA' }], 'prompt[0].mimeType: expected a string, got undefined.'],
  [
    [{ type: 'image', mimeType: 'image/png', data: 'data:image/png;base64,AAAA' }],
    'prompt[0].data: expected base64, without a prefix such as "data:", got "data:image/png;base64,AAAA".',
  ],
  [
    [{ type: 'resource' }],
    'prompt[0].resource: expected an object with uri, and text or blob, got undefined.',
  ],
  [
    [{ type: 'resource', resource: { uri: 'a' } }],
    'prompt[0].resource.text: expected a string, got undefined.',
  ],
  [[{ type: 'resource_link', uri: 'a' }], 'prompt[0].name: expected a string, got undefined.'],
]

describe.each(ways)('the stream of a session %s', (_, way) => {
  const newSession = async (permissions?: 'ask') => (await scene.openSession(permissions))[way]

  it('has a piece of every kind, in the order of the journal, and the end last', async () => {
    const session = await newSession('ask')
    const pieces: StreamPiece[] = []
    for await (const piece of session.stream(`/write ${way}.txt hello\n${everything}\n/question`)) {
      pieces.push(piece)
      if (piece.type === 'permission' && piece.outcome === undefined) {
        expect(session.permissions.map(({ id }) => id)).toEqual([piece.id])
        await session.respondPermission(piece.id, 'allow_once')
      }
      if (piece.type === 'question' && piece.outcome === undefined)
        await session.respondQuestion(piece.id, { action: 'decline' })
    }
    expect(new Set(pieces.map(({ type }) => type))).toEqual(
      new Set(['toolCall', 'permission', 'fileChange', 'thought', 'usage', 'text', 'question', 'end']),
    )
    const seqs = pieces.map(({ at }) => at?.seq ?? 0)
    expect(seqs).toEqual(seqs.toSorted((a, b) => a - b))
    expect(new Set(pieces.map(({ cursor }) => cursor)).size).toBe(pieces.length)
    expect(pieces.at(-1)).toMatchObject({
      type: 'end',
      outcome: 'ok',
      stopReason: 'end_turn',
      complete: true,
    })
    expect(pieces.find(({ type }) => type === 'fileChange')).toMatchObject({
      change: 'created',
      path: `${way}.txt`,
      kind: 'file',
      size: 5,
    })
  })

  it('has the texts of the transcript, and is the same when its turn is sent again', async () => {
    const session = await newSession()
    const open = (after?: string) => () =>
      session.stream(everything, { turn: `order-${way}`, ...(after !== undefined && { after }) })
    const { pieces } = await readStream(open())
    const texts = new Map<string, string>()
    for (const piece of pieces)
      if (piece.type === 'text') texts.set(piece.id, (texts.get(piece.id) ?? '') + piece.text)
    const said = listTranscript((await session.transcript()) as Transcript).flatMap((entry) =>
      entry.kind === 'message' && entry.role === 'assistant' ? [[entry.id, entry.text] as const] : [],
    )
    expect([...texts]).toEqual(said)
    expect(said.length).toBeGreaterThan(0)
    expect(await readStream(open())).toEqual({ pieces })
    for (const [index, { cursor }] of pieces.entries())
      expect(await readStream(open(cursor))).toEqual({ pieces: pieces.slice(index + 1) })
    expect(session.info.turns).toBe(1)
  })

  it('cancels nothing when its reader leaves', async () => {
    const session = await newSession()
    const prompt = `/say one\n/wait 50\n/write left-${way}.txt done`
    const open = () => session.stream(prompt, { turn: `left-${way}` })
    for await (const piece of open()) if (piece.type === 'text') break
    const { pieces } = await readStream(open)
    expect(pieces.at(-1)).toMatchObject({ type: 'end', outcome: 'ok' })
    expect(pieces.map((piece) => piece.type === 'fileChange' && piece.path)).toContain(`left-${way}.txt`)
  })

  it('is cancelled by its signal, and leaves no listener and no connection behind', async () => {
    const session = await newSession()
    const abort = new AbortController()
    const outcomes: string[] = []
    for await (const piece of session.stream('/say on\n/stall', { signal: abort.signal })) {
      if (piece.type === 'text') abort.abort()
      if (piece.type === 'end') outcomes.push(piece.outcome)
    }
    expect(outcomes).toEqual(['cancelled'])
    const { signal } = new AbortController()
    await readStream(() => session.stream('/say two', { signal }))
    await eventually('no listener', () => getEventListeners(signal, 'abort').length === 0)
    const early = await readStream(() => session.stream('/say never', { signal: AbortSignal.abort() }))
    expect(early).toMatchObject({ pieces: [{ type: 'end', outcome: 'cancelled' }] })
    await eventually('no stream', async () => (await scene.openStreams()) === 0)
  })

  it('throws the error of a turn that failed, after its end, and the session tells how it ended', async () => {
    const session = await newSession()
    expect(session.info.lastTurn).toBeUndefined()
    await readStream(() => session.stream('/say one', { turn: `one-${way}` }))
    expect(session.info.lastTurn).toEqual({ id: `one-${way}`, outcome: 'ok' })
    const prompt = '/say before\n/error -32603 out of tokens'
    const { pieces, error } = await readStream(() => session.stream(prompt, { turn: `two-${way}` }))
    const failure = { code: 'agent_failed', message: expect.stringContaining('out of tokens') }
    expect(pieces.at(-1)).toMatchObject({ type: 'end', outcome: 'failed', error: failure })
    expect(error).toMatchObject(failure)
    expect(session.info).toMatchObject({ turns: 2, lastTurn: { id: `two-${way}`, outcome: 'failed' } })
  })

  it('refuses a prompt that is no text, an unknown option, a cursor of another turn, and a closed session', async () => {
    const session = await newSession()
    for (const [prompt, message] of badPrompts) {
      const refused = {
        code: 'argument_invalid',
        message,
        hint: expect.stringContaining('Correct the argument'),
      }
      // A caller in JavaScript.
      const given = prompt as unknown as string
      expect(await readStream(() => session.stream(given))).toMatchObject({ pieces: [], error: refused })
      expect(await session.prompt(given).catch((error: unknown) => error)).toMatchObject(refused)
    }
    const unknown = { turns: 'x' } as object
    expect(await readStream(() => session.stream('hi', unknown))).toMatchObject({
      pieces: [],
      error: { code: 'argument_invalid', message: expect.stringContaining('unknown key "turns"') },
    })
    expect(await readStream(() => session.stream('hi', { turn: 'a', after: 'b/1/0' }))).toMatchObject({
      pieces: [],
      error: {
        code: 'cursor_invalid',
        message: expect.stringContaining('after: expected the cursor of a piece of the turn a, got "b/1/0"'),
      },
    })
    expect(session.info.turns).toBe(0)
    await session.close()
    expect(await readStream(() => session.stream('hi'))).toMatchObject({
      pieces: [],
      error: { code: 'session_closed' },
    })
  })
})

it('a session tells how its last turn ended after a restart, in process and over HTTP', async () => {
  const { inProcess } = await scene.openSession()
  await readStream(() => inProcess.stream('/error no', { turn: 'last' }))
  const lastTurn = { id: 'last', outcome: 'failed' }
  await scene.daemon.restart()
  const { sessions } = await scene.daemon.client.attach('streamed')
  expect(await sessions.list()).toContainEqual(expect.objectContaining({ id: inProcess.id, lastTurn }))
  const look = await scene.daemon.host.look('streamed')
  expect(await look.sessions.get(inProcess.id)).toMatchObject({ state: 'closed', lastTurn })
  const resumed = await sessions.resume(inProcess.id)
  expect(resumed.info).toMatchObject({ turns: 1, lastTurn })
  const again = await readStream(() => resumed.stream('/error no', { turn: 'last' }))
  expect(again.pieces.at(-1)).toMatchObject({ type: 'end', outcome: 'failed' })
})

it('the pieces in process are those over HTTP, while they come', async () => {
  const { inProcess, overHttp } = await scene.openSession()
  const [first, second] = await Promise.all([
    readStream(() => inProcess.stream(everything, { turn: 'same' })),
    readStream(() => overHttp.stream(everything, { turn: 'same' })),
  ])
  expect(first.pieces.at(-1)).toMatchObject({ type: 'end', outcome: 'ok' })
  expect(second).toEqual(first)
})
