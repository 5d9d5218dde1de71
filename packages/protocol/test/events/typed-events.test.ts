import type { SessionNotification } from '@agentclientprotocol/sdk/unstable'
import { describe, expect, expectTypeOf, it } from 'vitest'
import {
  type AgentMessage,
  type DesktopEvent,
  type EventType,
  isGap,
  type JournalEvent,
  type JournalGap,
  type JournalItem,
  type JournalReader,
  type JsonObject,
  type KnownEvent,
  parseEvent,
  readPages,
  type UnknownEvent,
} from '../../src/index.ts'

const envelope = { journal: 'sbx_1', seq: 1, time: '2026-01-01T00:00:00.000Z', source: 'engine' }

/** A reader whose journal has one event of each of these types; `tail` and `summary` are not called. */
function reader(...types: readonly string[]): JournalReader {
  const events = types.map((type, at) => parseEvent({ ...envelope, seq: at + 1, type, data: { path: 'a' } }))
  const read = async () => ({ events, cursor: 'c', end: true })
  // The reader delivers what its caller asked for.
  return { id: 'sbx_1', read } as unknown as JournalReader
}

/** Compiles, but is not called. */
function compiles(_promise: (item: JournalItem, event: JournalEvent) => unknown): void {
  expect(compiles).toBeTypeOf('function')
}

// The compiler checks these: vitest runs the file, `tsc` fails on it.
describe('the type of an event', () => {
  it('narrows its data when it is compared with a type of the catalogue', () => {
    const event = parseEvent({ ...envelope, type: 'file.changed', data: { path: 'a', kind: 'file' } })
    expect(event.type === 'file.changed' && event.data.path).toBe('a')
    if (event.type === 'file.changed') {
      expectTypeOf(event).toEqualTypeOf<KnownEvent<'file.changed'>>()
      expectTypeOf(event.data.path).toEqualTypeOf<string>()
      expectTypeOf(event.data.kind).toEqualTypeOf<'file' | 'directory' | 'symlink' | 'other'>()
      expectTypeOf(event.data.size).toEqualTypeOf<number | undefined>()
    }
  })

  it('narrows in a switch, after destructuring, and by exclusion', () => {
    compiles((item, { type, data }) => {
      switch (item.type) {
        case 'log.message':
          return expectTypeOf(item.data.level).toEqualTypeOf<'debug' | 'info' | 'warn' | 'error'>()
        case 'journal.gap':
          return expectTypeOf(item).toEqualTypeOf<JournalGap>()
        default:
          expectTypeOf(item.type).not.toEqualTypeOf<JournalItem['type']>()
      }
      if (type === 'process.exited') expectTypeOf(data.process).toEqualTypeOf<string>()
      if (!isGap(item)) expectTypeOf(item.seq).toEqualTypeOf<number>()
      return undefined
    })
  })

  it('leaves fields that the schema does not describe as JSON', () => {
    compiles((_, event) => {
      if (event.type !== 'file.changed') return
      expectTypeOf({ of: event.data.fromTheFuture }).toExtend<JsonObject>()
    })
  })

  it('is an unknown type for events that are not in the catalogue, whose data is JSON', () => {
    compiles((_, event) => {
      type Unknown = Exclude<JournalEvent, KnownEvent | DesktopEvent>
      expectTypeOf<Unknown>().toEqualTypeOf<UnknownEvent>()
      expectTypeOf<Unknown['data']>().toEqualTypeOf<JsonObject>()
      expectTypeOf(event.type).toExtend<string>()
      // @ts-expect-error: a misspelt type is not compared by accident.
      if (event.type === 'file.chnaged') return
      if (event.type === 'desktop.window_opened') expectTypeOf(event.data).toEqualTypeOf<JsonObject>()
    })
  })

  it('has a member of the union for every type of the catalogue', () => {
    expectTypeOf<KnownEvent['type']>().toEqualTypeOf<EventType>()
  })
})

describe('an agent.message', () => {
  it('has the types of the Agent Client Protocol by method', () => {
    compiles((_, event) => {
      if (event.type !== 'agent.message') return
      const { message, direction } = event.data
      expectTypeOf(direction).toEqualTypeOf<'in' | 'out'>()
      expectTypeOf(message).toEqualTypeOf<AgentMessage>()
      if (message.method === 'session/update') {
        expectTypeOf(message.params).toEqualTypeOf<SessionNotification>()
        if (message.params.update.sessionUpdate === 'tool_call')
          expectTypeOf(message.params.update.title).toEqualTypeOf<string>()
      }
      if (message.method === 'session/prompt')
        expectTypeOf(message.id).toEqualTypeOf<string | number | null>()
      if (message.method === '_vendor/extension') expectTypeOf(message.params).toEqualTypeOf<unknown>()
    })
  })

  it('can be read by its method also if it is a response, a blob or a text', () => {
    for (const message of [{ id: 1, result: {} }, { blob: 'sha256:…', bytes: 2_000_000 }, '{"jsonrpc":…']) {
      const event = parseEvent({ ...envelope, type: 'agent.message', data: { direction: 'out', message } })
      expect(event.type === 'agent.message' && event.data.message.method).toBeUndefined()
    }
  })
})

describe('a reader', () => {
  it('gives events of the types that it was asked for, or a gap', async () => {
    const { events } = await reader('file.changed').read({ types: ['file.changed'] })
    expectTypeOf(events).toEqualTypeOf<readonly (KnownEvent<'file.changed'> | JournalGap)[]>()
    expect(events.map((item) => (isGap(item) ? '' : item.data.path))).toEqual(['a'])
  })

  it('gives all types of a family, and those that a newer version may add', async () => {
    const { events } = await reader('file.moved').read({ types: ['file.*'] })
    type Files = KnownEvent<'file.created' | 'file.changed' | 'file.deleted' | 'file.moved'>
    expectTypeOf(events).toEqualTypeOf<readonly (Files | UnknownEvent | JournalGap)[]>()
    expect(events).toHaveLength(1)
  })

  it('gives an event of a foreign type with its name', async () => {
    const { events } = await reader('acme.built').read({ types: ['acme.built'] })
    expectTypeOf(events).toEqualTypeOf<readonly (UnknownEvent<'acme.built'> | JournalGap)[]>()
    const desktop = await reader('desktop.started').read({ types: ['desktop.*'] })
    expectTypeOf(desktop.events).toEqualTypeOf<readonly (DesktopEvent | JournalGap)[]>()
    expect(events).toHaveLength(1)
  })

  it('gives every event without types, for "*", and for types that are not known in advance', async () => {
    const journal = reader('log.message')
    const types: string[] = ['log.message']
    const pages = [
      await journal.read(),
      await journal.read({ order: 'desc' }),
      await journal.read({ types: ['*'] }),
      await journal.read({ types }),
      await journal.read({ types: [`${types[0]}.*`] }),
    ]
    expectTypeOf(pages).toEqualTypeOf<Awaited<ReturnType<JournalReader['read']>>[]>()
    for (const { events } of pages) expectTypeOf(events).toEqualTypeOf<readonly JournalItem[]>()
    expect(pages).toHaveLength(5)
  })

  it('narrows tails and pages in the same way', async () => {
    const journal = reader('turn.finished')
    type Item = KnownEvent<'turn.finished' | 'turn.started'> | JournalGap
    const tail = () => journal.tail({ types: ['turn.started', 'turn.finished'] })
    expectTypeOf(tail).returns.toEqualTypeOf<AsyncIterableIterator<Item>>()
    for await (const page of readPages(journal, { types: ['turn.finished', 'turn.started'] }))
      expectTypeOf(page.events).toEqualTypeOf<readonly Item[]>()
    expect.assertions(0)
  })
})
