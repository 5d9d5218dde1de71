import type { JournalItem, JsonObject } from '@vitrine/protocol'
import { describe, expect, it } from 'vitest'
import { changedFilesAt, changedFilesView, listChangedFiles, rebuild } from '../../src/index.ts'
import { event, gap } from '../journal-items.ts'
import { describeViewProperties } from '../view-properties.ts'

type Step = [does: 'created' | 'changed' | 'deleted' | 'moved', path: string, data?: JsonObject]

/** `['moved', 'a > b']` moves a to b; a path that ends with a slash is a directory. */
const eventsOf = (steps: readonly Step[]) =>
  steps.map(([does, path, data], index) => {
    const [from = '', to = from] = path.split(' > ')
    return event(index + 1, `file.${does}`, {
      path: to.replace(/\/$/, ''),
      kind: to.endsWith('/') ? 'directory' : 'file',
      ...(does === 'moved' && { previousPath: from.replace(/\/$/, '') }),
      ...data,
    })
  })

const listed = (items: readonly JournalItem[]) => listChangedFiles(rebuild(changedFilesView, items))

const net = (steps: readonly Step[]) =>
  listed(eventsOf(steps)).map(
    ({ change, path, from, replaced }) =>
      `${change} ${from === undefined ? '' : `${from} > `}${path}${replaced ? ' replaced' : ''}`,
  )

describe('changedFilesView', () => {
  describeViewProperties(changedFilesView)

  const by = { by: 'manifest' }

  it('marks files that the manifest wrote and that nothing changed since', () => {
    const files = listed(
      eventsOf([
        ['created', 'app/', by],
        ['created', 'app/kept', by],
        ['created', 'app/edited', { ...by, after: 'v1' }],
        ['changed', 'app/edited', { ...by, after: 'v2' }],
        ['created', 'app/gone', { ...by, after: 'v3' }],
        ['created', 'app/old', by],
        ['created', 'app-2', by],
        ['changed', 'app/edited', { after: 'v4' }],
        ['deleted', 'app/gone'],
        ['moved', 'app/old > app/new'],
        ['created', 'report.md'],
      ]),
    )
    expect(
      files.map(({ path, change, manifest, before }) => [path, change, manifest ?? false, before]),
    ).toEqual([
      ['app', 'created', true, undefined],
      ['app/edited', 'changed', false, 'v2'],
      ['app/gone', 'deleted', false, 'v3'],
      ['app/kept', 'created', true, undefined],
      ['app/new', 'moved', false, undefined],
      ['app-2', 'created', true, undefined],
      ['report.md', 'created', false, undefined],
    ])
  })

  it('marks nothing below a directory of the manifest that was moved or deleted', () => {
    const made: Step[] = [
      ['created', 'd/', by],
      ['created', 'd/x', by],
    ]
    expect(listed(eventsOf([...made, ['moved', 'd/ > e/']])).filter(({ manifest }) => manifest)).toEqual([])
    expect(listed(eventsOf([...made, ['deleted', 'd/']])).filter(({ manifest }) => manifest)).toEqual([])
  })

  const table: [about: string, steps: Step[], result: string[]][] = [
    ['a file that was created', [['created', 'a']], ['created a']],
    ['a file that was changed', [['changed', 'a']], ['changed a']],
    ['a file that was deleted', [['deleted', 'a']], ['deleted a']],
    ['a file that was moved', [['moved', 'a > b']], ['moved a > b']],
    [
      'a directory that moved after its entries',
      [
        ['moved', 'a/x > b/x'],
        ['moved', 'a/ > b/'],
      ],
      ['moved a > b', 'moved a/x > b/x'],
    ],
    [
      'a new directory that moved after its entries',
      [
        ['created', 'a/'],
        ['created', 'a/x'],
        ['moved', 'a/x > b/x'],
        ['moved', 'a/ > b/'],
      ],
      ['created b', 'created b/x'],
    ],
    [
      'created, then changed',
      [
        ['created', 'a'],
        ['changed', 'a'],
      ],
      ['created a'],
    ],
    [
      'created, then deleted',
      [
        ['created', 'a'],
        ['deleted', 'a'],
      ],
      [],
    ],
    [
      'changed, then deleted',
      [
        ['changed', 'a'],
        ['deleted', 'a'],
      ],
      ['deleted a'],
    ],
    [
      'deleted, then created',
      [
        ['deleted', 'a'],
        ['created', 'a'],
      ],
      ['changed a'],
    ],
    [
      'deleted, created, deleted',
      [
        ['deleted', 'a'],
        ['created', 'a'],
        ['deleted', 'a'],
      ],
      ['deleted a'],
    ],
    [
      'created, then moved',
      [
        ['created', 'a'],
        ['moved', 'a > b'],
      ],
      ['created b'],
    ],
    [
      'changed, then moved',
      [
        ['changed', 'a'],
        ['moved', 'a > b'],
      ],
      ['moved a > b'],
    ],
    [
      'moved, then changed',
      [
        ['moved', 'a > b'],
        ['changed', 'b'],
      ],
      ['moved a > b'],
    ],
    [
      'moved, then deleted',
      [
        ['moved', 'a > b'],
        ['deleted', 'b'],
      ],
      ['deleted a'],
    ],
    [
      'moved twice',
      [
        ['moved', 'a > b'],
        ['moved', 'b > c'],
      ],
      ['moved a > c'],
    ],
    [
      'moved there and back',
      [
        ['moved', 'a > b'],
        ['moved', 'b > a'],
      ],
      [],
    ],
    [
      'moved, changed and moved back',
      [
        ['moved', 'a > b'],
        ['changed', 'b'],
        ['moved', 'b > a'],
      ],
      ['changed a'],
    ],
    ['moved to its own path', [['moved', 'a > a']], []],
    [
      'swapped',
      [
        ['moved', 'a > t'],
        ['moved', 'b > a'],
        ['moved', 't > b'],
      ],
      ['moved b > a', 'moved a > b'],
    ],
    [
      'saved by a rename',
      [
        ['changed', 'a'],
        ['created', 't'],
        ['moved', 't > a'],
      ],
      ['changed a'],
    ],
    [
      'moved onto a file that had changed',
      [
        ['changed', 'b'],
        ['moved', 'a > b'],
      ],
      ['moved a > b replaced'],
    ],
    [
      'moved away, and another created there',
      [
        ['moved', 'a > b'],
        ['created', 'a'],
      ],
      ['created a', 'moved a > b'],
    ],
    [
      'a directory move moves known entries',
      [
        ['created', 'd/new'],
        ['changed', 'd/old'],
        ['deleted', 'd/bad'],
        ['moved', 'd/ > e/'],
      ],
      ['deleted d/bad', 'moved d > e', 'created e/new', 'moved d/old > e/old'],
    ],
    [
      'a directory move does not affect a sibling with the same prefix',
      [
        ['created', 'd-2/x'],
        ['moved', 'd/ > e/'],
      ],
      ['created d-2/x', 'moved d > e'],
    ],
    [
      'a directory moved there and back',
      [
        ['changed', 'd/x'],
        ['moved', 'd/ > e/'],
        ['moved', 'e/ > d/'],
      ],
      ['changed d/x'],
    ],
    [
      'entries of a moved directory are those of the old one',
      [
        ['moved', 'd/ > e/'],
        ['changed', 'e/x'],
        ['deleted', 'e/y'],
        ['moved', 'e/z > z'],
      ],
      ['deleted d/y', 'moved d > e', 'moved d/x > e/x', 'moved d/z > z'],
    ],
    [
      'back in a directory that moved meanwhile',
      [
        ['moved', 'd/x > x'],
        ['moved', 'd/ > e/'],
        ['moved', 'x > e/x'],
      ],
      ['moved d > e'],
    ],
    [
      'back at its path in a new directory of the old name',
      [
        ['moved', 'd/ > e/'],
        ['created', 'd/'],
        ['moved', 'e/x > d/x'],
      ],
      ['created d', 'moved d > e'],
    ],
    [
      'a deleted directory deletes known entries',
      [
        ['created', 'd/new'],
        ['changed', 'd/old'],
        ['moved', 'x > d/x'],
        ['deleted', 'd/'],
      ],
      ['deleted d', 'deleted d/old', 'deleted x'],
    ],
    [
      'all of a created directory is created',
      [
        ['created', 'd/'],
        ['changed', 'd/x'],
      ],
      ['created d', 'created d/x'],
    ],
    [
      'a directory moved into itself, which is impossible',
      [
        ['created', 'd/x'],
        ['moved', 'd/ > d/e/'],
      ],
      ['moved d > d/e', 'created d/e/x'],
    ],
    ['a path called __proto__', [['created', '__proto__/__proto__']], ['created __proto__/__proto__']],
    [
      'absolute paths',
      [
        ['moved', '/w/a > /w/b'],
        ['created', '/w/c'],
      ],
      ['moved /w/a > /w/b', 'created /w/c'],
    ],
  ]

  it.each(['', '.', '..', '/', 'a//b', 'a/', 'a/../b', 'a\nb', 'a\0b', 'constructor', '\ud800'])(
    'keeps a path as it is, and follows its move: %j',
    (path) => {
      const created = event(1, 'file.created', { path, kind: 'file' })
      const moved = event(2, 'file.moved', { path: 'z', previousPath: path, kind: 'file' })
      expect(listed([created])).toMatchObject([{ path, change: 'created' }])
      expect(listed([created, moved])).toMatchObject([{ path: 'z', change: 'created' }])
    },
  )

  it('ignores a path that is no text', () => {
    for (const path of [5, null, {}, ['a']])
      expect(listed([event(1, 'file.created', { path, kind: 'file' })])).toEqual([])
  })

  it.each(table)('lists the net effect: %s', (_about, steps, result) => {
    expect(net(steps)).toEqual(result)
  })

  it('has the first before and the last after', () => {
    const steps: Step[] = [
      ['changed', 'a', { before: 'sha256:1', after: 'sha256:2', size: 2 }],
      ['changed', 'a', { before: 'sha256:2', after: 'sha256:3', size: 3 }],
      ['moved', 'a > b'],
    ]
    expect(listed(eventsOf(steps))).toEqual([
      {
        path: 'b',
        change: 'moved',
        from: 'a',
        kind: 'file',
        before: 'sha256:1',
        after: 'sha256:3',
        size: 3,
        seq: 3,
      },
    ])
  })

  it('keeps the before of a deleted file, also if it was created again', () => {
    const steps: Step[] = [
      ['changed', 'a', { before: 'sha256:1', after: 'sha256:2' }],
      ['deleted', 'a', { before: 'sha256:2' }],
      ['moved', 'b > c'],
      ['deleted', 'c', { before: 'sha256:9' }],
    ]
    expect(listed(eventsOf(steps))).toEqual([
      { path: 'a', change: 'deleted', kind: 'file', before: 'sha256:1', seq: 2 },
      { path: 'b', change: 'deleted', kind: 'file', before: 'sha256:9', seq: 4 },
    ])
    expect(listed(eventsOf([...steps, ['created', 'a', { after: 'sha256:4' }]]))[0]).toEqual({
      path: 'a',
      change: 'changed',
      kind: 'file',
      before: 'sha256:1',
      after: 'sha256:4',
      seq: 5,
    })
  })

  it('uses neither a later before nor an earlier after', () => {
    const steps: Step[] = [
      ['changed', 'a', { after: 'sha256:2' }],
      ['changed', 'a', { before: 'sha256:2' }],
    ]
    expect(listed(eventsOf(steps))).toEqual([{ path: 'a', change: 'changed', kind: 'file', seq: 2 }])
  })

  it('distinguishes names that differ only in their bytes', () => {
    const steps: Step[] = [
      ['created', 'a', { path: 'a\uFFFD', pathBase64: 'Yf8=' }],
      ['created', 'a', { path: 'a\uFFFD', pathBase64: 'Yf4=' }],
      ['deleted', 'a', { path: 'a\uFFFD', pathBase64: 'Yf8=' }],
    ]
    expect(net(steps)).toEqual(['created a\udcfe'])
  })

  it('changedFilesAt() lists the changes up to a seq', () => {
    const events = eventsOf([
      ['created', 'a'],
      ['moved', 'a > b'],
      ['deleted', 'b'],
    ])
    expect(changedFilesAt(events, 0)).toEqual([])
    expect(changedFilesAt(events, 1)).toMatchObject([{ change: 'created', path: 'a' }])
    expect(changedFilesAt(events, 2)).toMatchObject([{ change: 'created', path: 'b' }])
    expect(changedFilesAt(events, 3)).toEqual([])
  })

  it('is incomplete after a gap of file events or a degraded watcher', () => {
    const complete = (item: JournalItem) => rebuild(changedFilesView, [item]).complete
    expect(complete(gap(1, 5, ['process.output']))).toBe(true)
    expect(complete(gap(1, 5, ['process.output', 'file.changed']))).toBe(false)
    expect(complete(gap(1, 5, []))).toBe(false)
    expect(complete(event(1, 'watch.degraded', { reason: 'too many' }))).toBe(false)
  })

  it('has an empty state when there is no net effect', () => {
    const events = eventsOf([
      ['created', 'a/b/c'],
      ['moved', 'x/y > x/z'],
      ['deleted', 'a/b/c'],
      ['moved', 'x/z > x/y'],
    ])
    expect(rebuild(changedFilesView, events)).toEqual(changedFilesView.empty)
  })

  it('shares unchanged parts with the previous state', () => {
    const before = rebuild(
      changedFilesView,
      eventsOf([
        ['created', 'a/x'],
        ['created', 'b/x'],
      ]),
    )
    const after = changedFilesView.add(before, [event(9, 'file.changed', { path: 'a/x', kind: 'file' })])
    expect(after.traces.below?.b).toBe(before.traces.below?.b)
    expect(after.traces.below?.a).not.toBe(before.traces.below?.a)
    expect(changedFilesView.add(before, [event(9, 'log.message')])).toBe(before)
  })

  it('can be converted to JSON at any depth of a path', () => {
    const deep = Array.from({ length: 30_000 }, () => 'd').join('/')
    const state = rebuild(changedFilesView, eventsOf([['created', deep]]))
    expect(listChangedFiles(JSON.parse(JSON.stringify(state)))).toMatchObject([{ path: deep }])
  })
})
