import { describe, expect, it } from 'vitest'
import { listTranscript, rebuild, type TranscriptLimits, transcriptView } from '../../src/index.ts'
import { bounded, head, sizeOf, tail } from '../../src/transcript/bounded.ts'
import { calls, conversation, finish, says, start, type TestEvent, thinks, updates } from './conversation.ts'

const kept = (limits: TranscriptLimits, ...events: readonly TestEvent[]) => {
  const transcript = rebuild(transcriptView({ limits }), conversation(...events))
  return { ...transcript, ids: listTranscript(transcript).map(({ id }) => id) }
}

describe('transcript limits', () => {
  it('keep the newest entries', () => {
    const events = [says('a'), thinks('b'), calls('c'), says('d')]
    expect(kept({ maxEntries: 2 }, ...events)).toMatchObject({ ids: ['c', 'msg_4'], dropped: 2 })
  })

  it('keep at most maxChars characters', () => {
    const events = [says('aaaa'), thinks('bbbb'), says('cccc'), says('dddd')]
    expect(kept({ maxChars: 8 }, ...events)).toMatchObject({ ids: ['msg_3'], chars: 8, dropped: 2 })
    expect(kept({ maxChars: 2 }, ...events)).toMatchObject({ ids: ['msg_3'], chars: 8, dropped: 2 })
  })

  it('keep the newest turns', () => {
    const events = [start('t1'), finish('t1'), start('t2'), finish('t2'), start('t3')]
    const { turns, droppedTurns } = kept({ maxTurns: 2 }, ...events)
    expect(turns.map(({ id }) => id)).toEqual(['t2', 't3'])
    expect(droppedTurns).toBe(1)
  })

  it('keep the beginning of an entry that is too long', () => {
    const transcript = rebuild(
      transcriptView({ limits: { maxEntryChars: 8 } }),
      conversation(says('12345'), says('67😀9'), says('0'), calls('c', { rawInput: '123', content: [] })),
    )
    expect(listTranscript(transcript)).toMatchObject([
      { text: '1234567', chars: 7, cut: true },
      { input: '1', cut: true },
    ])
  })

  it('remove a reused id together with its call', () => {
    const events = [start('t'), calls('c', { status: 'failed' }), finish('t'), start('u'), calls('c')]
    expect(kept({}, ...events).reused).not.toEqual({})
    const { ids, reused } = kept({ maxEntries: 1 }, ...events, says('x'))
    expect(ids).toEqual(['msg_6'])
    expect(Object.values(reused).flatMap(Object.keys)).toEqual([])
  })

  it('distinguish calls with one id after the first was dropped', () => {
    const used = (turn: string) => [start(turn), calls('c', { status: 'failed' }), finish(turn)]
    const events = [
      ...used('t'),
      ...used('u'),
      ...used('v'),
      start('w'),
      calls('c'),
      updates('c', { title: 'x' }),
    ]
    expect(kept({ maxEntries: 3 }, ...events).ids).toEqual(['c:8', 'msg_10', 'c:11'])
  })

  it('add a dropped tool call again after an update of it', () => {
    const events = [calls('c'), says('x'), updates('c', { status: 'completed' })]
    expect(kept({ maxEntries: 1 }, ...events)).toMatchObject({ ids: ['c'], dropped: 2 })
  })

  it('must be whole numbers', () => {
    expect(() => transcriptView({ limits: { maxEntries: 0 } })).toThrow(
      'limits.maxEntries: expected a whole number of at least 1, got 0.',
    )
  })
})

describe('bounded JSON', () => {
  it.each([
    ['a small value', { a: [1, 'two', null, true] }, 100, { a: [1, 'two', null, true] }, false],
    ['a long text', 'x'.repeat(10), 5, 'xxxx', true],
    ['many values', [[], [], [], []], 3, [[], []], true],
    [
      'a key called __proto__',
      JSON.parse('{"__proto__":{"a":1}}'),
      100,
      JSON.parse('{"__proto__":{"a":1}}'),
      false,
    ],
    ['values that are not JSON', [undefined, Number.NaN, -0], 100, [null, null, 0], false],
  ])('bounds %s', (_name, value, max, expected, cut) => {
    expect(bounded(value, max)).toEqual({ value: expected, cut })
  })

  it('limits the depth of nesting', () => {
    let deep: unknown = 'bottom'
    for (let depth = 0; depth < 100_000; depth += 1) deep = [deep]
    const { value, cut } = bounded(deep, 1_000_000)
    expect(cut).toBe(true)
    expect(sizeOf(value)).toBe(33)
  })

  it('does not split a surrogate pair', () => {
    expect(head('a😀b', 2)).toBe('a')
    expect(tail('a😀b', 2)).toBe('b')
    expect([head('abc', -1), tail('abc', 0)]).toEqual(['', ''])
  })
})
