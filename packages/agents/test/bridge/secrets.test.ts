import type { JournalEvent } from '@vitrine/protocol'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { cutInto, encoded, leaked, longSecret } from '../../../../conformance/src/masking/encodings.ts'
import { scale } from '../../../../conformance/src/scale.ts'
import { cleanExit, openBridge } from './fixture.ts'

const chunk = (sessionId: string, text: string, fields: object = {}) => ({
  method: 'session/update',
  params: {
    sessionId,
    update: { sessionUpdate: 'agent_message_chunk', content: { type: 'text', text }, ...fields },
  },
})

/** The text of the messages with these fields, joined. */
function textOf(events: readonly JournalEvent[], fields: object): string {
  return events
    .filter((event) => holds(event.data, fields))
    .map(({ data }) => /"text":("(?:[^"\\]|\\.)*")/.exec(JSON.stringify(data))?.[1] ?? '""')
    .map((literal) => String(JSON.parse(literal)))
    .join('')
}

function holds(data: unknown, fields: object): boolean {
  const text = JSON.stringify(data)
  return Object.entries(fields).every(([key, value]) => text.includes(`"${key}":"${value}"`))
}

interface SessionOutput {
  readonly chunks: readonly string[]
  readonly fields: readonly object[]
}

const updateFields = fc.record(
  {
    messageId: fc.constantFrom('m1', 'm2', 'm3'),
    sessionUpdate: fc.constantFrom('agent_message_chunk', 'agent_thought_chunk'),
    toolCallId: fc.string({ maxLength: 200 }),
  },
  { requiredKeys: [] },
)

const secret = 'hushed-value-3f9c1b7d2e-and-more'
const halves = [secret.slice(0, 15), secret.slice(15)] as const

describe('a secret that is split over messages', () => {
  it('is masked while another session of the same agent writes in between', async () => {
    const { store, agent, bridge, events } = await openBridge()
    store.addSecret('KEY', secret)
    agent.emit(chunk('one', `a ${halves[0]}`), chunk('two', 'other text'), chunk('one', `${halves[1]} b`))
    agent.exit()
    await bridge.closed
    const said = await events('agent.message')
    expect(textOf(said, { sessionId: 'one' })).toBe('a [redacted:KEY] b')
    expect(textOf(said, { sessionId: 'two' })).toBe('other text')
  })

  it('is masked while thoughts, tool calls and another message of the session come in between', async () => {
    const { store, agent, bridge, events } = await openBridge()
    store.addSecret('KEY', secret)
    const content = (text: string) => [{ type: 'content', content: { type: 'text', text } }]
    agent.emit(
      chunk('one', `a ${halves[0]}`, { messageId: 'm1' }),
      chunk('one', 'thinking', { sessionUpdate: 'agent_thought_chunk' }),
      chunk('one', 'another message', { messageId: 'm2' }),
      chunk('one', '', { sessionUpdate: 'tool_call_update', toolCallId: 't1', content: content('output') }),
      chunk('one', `${halves[1]} b`, { messageId: 'm1' }),
    )
    agent.exit()
    await bridge.closed
    expect(textOf(await events('agent.message'), { messageId: 'm1' })).toBe('a [redacted:KEY] b')
  })

  it.each([
    ['message ids', (index: number) => ({ messageId: `m${index}` })],
    ['tool call ids', (index: number) => ({ sessionUpdate: 'tool_call_update', toolCallId: `t${index}` })],
    ['kinds of update', (index: number) => (index % 2 === 0 ? {} : { sessionUpdate: 'agent_thought_chunk' })],
  ])('is masked when its parts have different %s', async (_, fieldsOf) => {
    const { store, agent, bridge, events } = await openBridge()
    store.addSecret('KEY', secret)
    const parts = secret.match(/.{1,3}/g) ?? []
    agent.emit(...parts.map((part, index) => chunk('one', part, fieldsOf(index))))
    agent.exit()
    await bridge.closed
    const text = textOf(await events('agent.message'), { sessionId: 'one' })
    expect(text).toBe(`${parts[0]}[redacted:KEY]`)
  })

  it('is masked when its parts have different message ids and thoughts come in between', async () => {
    const { store, agent, bridge, events } = await openBridge()
    store.addSecret('KEY', secret)
    for (const [index, part] of (secret.match(/.{1,3}/g) ?? []).entries())
      agent.emit(
        chunk('one', part, { messageId: `m${index}` }),
        chunk('one', 'thinking', { sessionUpdate: 'agent_thought_chunk' }),
      )
    agent.exit()
    await bridge.closed
    const said = textOf(await events('agent.message'), { sessionUpdate: 'agent_message_chunk' })
    expect(leaked(secret, said)).toBeUndefined()
  })

  it('is masked in the last lines of stderr that an error repeats', async () => {
    const { store, agent, bridge, events } = await openBridge()
    store.addSecret('KEY', secret)
    const lines =
      Buffer.from(secret.repeat(2))
        .toString('base64')
        .match(/.{1,8}/g) ?? []
    const stderr = { head: `bad key\n${lines.join('\n')}`, lines: lines.length + 1 }
    agent.exit({ ...cleanExit, outcome: 'failed', exitCode: 4, stderr })
    await bridge.closed
    const error = bridge.exitError()
    const shown = [error.message, JSON.stringify(error.details), JSON.stringify(await events())]
    for (const text of shown) {
      expect(leaked(secret, text)).toBeUndefined()
      expect(text).toContain('[redacted:KEY]')
    }
  })

  it('shows no 12 characters in any encoding, cut anywhere, under any ids, while two sessions write at once', async () => {
    const session = longSecret.chain((secret) =>
      encoded(secret).chain(({ text }) =>
        fc.record({ secret: fc.constant(secret), chunks: cutInto(text), fields: fc.array(updateFields) }),
      ),
    )
    const emitted = (sessionId: string, { chunks, fields }: SessionOutput, index: number) =>
      chunk(sessionId, chunks[index] ?? '', fields[index % fields.length])
    await fc.assert(
      fc.asyncProperty(session, session, async (one, two) => {
        const { store, agent, bridge, events } = await openBridge()
        store.addSecret('ONE', one.secret)
        store.addSecret('TWO', two.secret)
        for (let index = 0; index < Math.max(one.chunks.length, two.chunks.length); index++)
          agent.emit(emitted('one', one, index), emitted('two', two, index))
        agent.exit()
        await bridge.closed
        const said = await events('agent.message')
        expect(leaked(one.secret, textOf(said, { sessionId: 'one' }))).toBeUndefined()
        expect(leaked(two.secret, textOf(said, { sessionId: 'two' }))).toBeUndefined()
      }),
      { numRuns: scale.maskedMessages },
    )
  })
})
