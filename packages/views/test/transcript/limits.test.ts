import { describe, expect, it } from 'vitest'
import { listTranscript, rebuild, type TranscriptLimits, transcriptView } from '../../src/index.ts'
import { bounded, head, sizeOf, tail } from '../../src/transcript/bounded.ts'
import { calls, conversation, finish, type Said, says, start, thinks, updates } from './conversation.ts'

const kept = (limits: TranscriptLimits, ...said: readonly Said[]) => {
  const transcript = rebuild(transcriptView({ limits }), conversation(...said))
  return { ...transcript, ids: listTranscript(transcript).map(({ id }) => id) }
}

describe('what a transcript keeps', () => {
  it('are the newest entries', () => {
    const said = [says('a'), thinks('b'), calls('c'), says('d')]
    expect(kept({ maxEntries: 2 }, ...said)).toMatchObject({ ids: ['c', 'msg_4'], dropped: 2 })
  })

  it('are as many characters as it may hold', () => {
    const said = [says('aaaa'), thinks('bbbb'), says('cccc'), says('dddd')]
    expect(kept({ maxChars: 8 }, ...said)).toMatchObject({ ids: ['msg_3'], chars: 8, dropped: 2 })
    expect(kept({ maxChars: 2 }, ...said)).toMatchObject({ ids: ['msg_3'], chars: 8, dropped: 2 })
  })

  it('are the newest turns', () => {
    const said = [start('t1'), finish('t1'), start('t2'), finish('t2'), start('t3')]
    const { turns, droppedTurns } = kept({ maxTurns: 2 }, ...said)
    expect(turns.map(({ id }) => id)).toEqual(['t2', 't3'])
    expect(droppedTurns).toBe(1)
  })

  it('is the beginning of an entry that is too long', () => {
    const transcript = rebuild(
      transcriptView({ limits: { maxEntryChars: 8 } }),
      conversation(says('12345'), says('67😀9'), says('0'), calls('c', { rawInput: '123', content: [] })),
    )
    expect(listTranscript(transcript)).toMatchObject([
      { text: '1234567', chars: 7, cut: true },
      { input: '1', cut: true },
    ])
  })

  it('forgets an id that was used again with its call', () => {
    const said = [start('t'), calls('c', { status: 'failed' }), finish('t'), start('u'), calls('c')]
    expect(kept({}, ...said).reused).not.toEqual({})
    const { ids, reused } = kept({ maxEntries: 1 }, ...said, says('x'))
    expect(ids).toEqual(['msg_6'])
    expect(Object.values(reused).flatMap(Object.keys)).toEqual([])
  })

  it('tells calls of one id apart after the first of them was dropped', () => {
    const used = (turn: string) => [start(turn), calls('c', { status: 'failed' }), finish(turn)]
    const said = [
      ...used('t'),
      ...used('u'),
      ...used('v'),
      start('w'),
      calls('c'),
      updates('c', { title: 'x' }),
    ]
    expect(kept({ maxEntries: 3 }, ...said).ids).toEqual(['c:8', 'msg_10', 'c:11'])
  })

  it('shows a dropped tool call again when it is told of again', () => {
    const said = [calls('c'), says('x'), updates('c', { status: 'completed' })]
    expect(kept({ maxEntries: 1 }, ...said)).toMatchObject({ ids: ['c'], dropped: 2 })
  })

  it('has limits that are whole numbers', () => {
    expect(() => transcriptView({ limits: { maxEntries: 0 } })).toThrow(
      'limits.maxEntries: expected a whole number of at least 1, got 0.',
    )
  })
})

describe('bounded JSON', () => {
  it.each([
    ['what has room', { a: [1, 'two', null, true] }, 100, { a: [1, 'two', null, true] }, false],
    ['a long text', 'x'.repeat(10), 5, 'xxxx', true],
    ['many values', [[], [], [], []], 3, [[], []], true],
    [
      'a key called __proto__',
      JSON.parse('{"__proto__":{"a":1}}'),
      100,
      JSON.parse('{"__proto__":{"a":1}}'),
      false,
    ],
    ['what JSON cannot carry', [undefined, Number.NaN, -0], 100, [null, null, 0], false],
  ])('of %s', (_name, value, max, expected, cut) => {
    expect(bounded(value, max)).toEqual({ value: expected, cut })
  })

  it('ends at a depth that everybody can write', () => {
    let deep: unknown = 'bottom'
    for (let depth = 0; depth < 100_000; depth += 1) deep = [deep]
    const { value, cut } = bounded(deep, 1_000_000)
    expect(cut).toBe(true)
    expect(sizeOf(value)).toBe(33)
  })

  it('cuts no character in two', () => {
    expect(head('a😀b', 2)).toBe('a')
    expect(tail('a😀b', 2)).toBe('b')
    expect([head('abc', -1), tail('abc', 0)]).toEqual(['', ''])
  })
})
