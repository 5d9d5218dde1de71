import type { JournalItem } from '@vitrine/protocol'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  operationChildren,
  operationRoots,
  operationRows,
  operationTreeView,
  rebuild,
} from '../../src/index.ts'
import { anyItems } from '../any-items.ts'
import { event, gap } from '../journal-items.ts'
import { describeViewProperties } from '../view-properties.ts'

const view = operationTreeView()

const start = (seq: number, operation: string, parent?: string, more = {}) =>
  event(seq, 'operation.started', { op: 'exec', ...(parent && { parent }), ...more }, { operation })
const finish = (seq: number, operation: string, more = {}) =>
  event(seq, 'operation.finished', { op: 'exec', outcome: 'ok', ok: true, ...more }, { operation })

const drawn = (items: readonly JournalItem[], options = {}) =>
  operationRows(rebuild(operationTreeView(options), items)).map(
    ({ operation, depth }) => `${'-'.repeat(depth)}${operation.id}${operation.endedAt ? '' : '…'}`,
  )

describe('the operation tree', () => {
  describeViewProperties(operationTreeView({ maxFinished: 3 }))

  it('has the subject, duration and outcome of an operation', () => {
    const tree = rebuild(view, [
      start(1, 'op_1', undefined, { command: 'npm test' }),
      finish(2, 'op_1', { outcome: 'failed', ok: false, durationMs: 12, exitCode: 3 }),
    ])
    expect(operationRoots(tree)).toEqual([
      {
        id: 'op_1',
        op: 'exec',
        subject: 'npm test',
        startedAt: { seq: 1, time: '2026-01-02T10:15:01.000Z' },
        endedAt: { seq: 2, time: '2026-01-02T10:15:02.000Z' },
        outcome: 'failed',
        durationMs: 12,
        exitCode: 3,
      },
    ])
  })

  it('nests operations in order of their start', () => {
    const items = [start(1, 'z'), start(2, 'b', 'z'), start(3, 'c', 'b'), start(4, 'a', 'z'), start(5, 'y')]
    expect(drawn([...items, finish(6, 'c')])).toEqual(['z…', '-b…', '--c', '-a…', 'y…'])
    expect(operationChildren(rebuild(view, items), 'z').map(({ id }) => id)).toEqual(['b', 'a'])
  })

  it('adds an operation at its finish if its start is missing, with its children', () => {
    const items = [gap(1, 4, ['operation.started']), start(5, 'child', 'root'), finish(6, 'child')]
    expect(drawn(items)).toEqual(['child'])
    expect(drawn([...items, finish(7, 'root')])).toEqual(['root', '-child'])
    expect(rebuild(view, items).complete).toBe(false)
  })

  it('stays complete over a gap of other events', () => {
    expect(rebuild(view, [gap(1, 4, ['process.output'])]).complete).toBe(true)
  })

  it('uses only the first start and the first end', () => {
    const tree = rebuild(view, [
      start(1, 'a'),
      start(2, 'a'),
      finish(3, 'a', { outcome: 'cancelled' }),
      finish(4, 'a'),
    ])
    expect(operationRoots(tree)).toMatchObject([
      { startedAt: { seq: 1 }, endedAt: { seq: 3 }, outcome: 'cancelled' },
    ])
  })

  it('breaks a cycle of parents, so that every operation is listed', () => {
    expect(drawn([start(1, 'self', 'self')])).toEqual(['self…'])
    expect(drawn([start(1, 'a', 'b'), start(2, 'b', 'c'), start(3, 'c', 'a')])).toEqual(['c…', '-b…', '--a…'])
  })

  it('drops the oldest finished root with its children and counts them', () => {
    const items = [
      ...[start(1, 'a'), start(2, 'a1', 'a'), finish(3, 'a1'), finish(4, 'a')],
      ...[start(5, 'b'), start(6, 'b1', 'b'), finish(7, 'b1'), finish(8, 'b')],
    ]
    expect(drawn(items, { maxFinished: 3 })).toEqual(['b', '-b1'])
    expect(rebuild(operationTreeView({ maxFinished: 3 }), items)).toMatchObject({ finished: 2, dropped: 2 })
  })

  it('drops the oldest finished operations below a root that is still open', () => {
    const items = [start(1, 'root')]
    for (let seq = 2; seq <= 10; seq += 2)
      items.push(start(seq, `op_${seq}`, 'root'), finish(seq + 1, `op_${seq}`))
    expect(drawn(items, { maxFinished: 2 })).toEqual(['root…', '-op_8', '-op_10'])
  })

  it('keeps an open operation when its finished parent is dropped', () => {
    const items = [start(1, 'a'), start(2, 'open', 'a'), finish(3, 'a'), start(4, 'b'), finish(5, 'b')]
    expect(drawn(items, { maxFinished: 1 })).toEqual(['open…', 'b'])
  })

  it('cuts a long subject', () => {
    const tree = rebuild(view, [start(1, 'a', undefined, { command: '😀'.repeat(1000) })])
    expect(operationRoots(tree)[0]?.subject).toBe(`${'😀'.repeat(255)}…`)
  })

  it('lists every operation exactly once within its limit, and counts the dropped ones', () => {
    fc.assert(
      fc.property(anyItems, fc.nat({ max: 5 }), (items, maxFinished) => {
        const tree = rebuild(operationTreeView({ maxFinished }), items)
        const rows = operationRows(tree)
        const ids = rows.map(({ operation }) => operation.id)
        expect([...ids].sort()).toEqual(Object.values(tree.operations).flatMap(Object.keys).sort())
        expect(rows.filter(({ operation }) => operation.endedAt).length).toBe(tree.finished)
        expect(tree.finished).toBeLessThanOrEqual(maxFinished)
        expect(tree.ended.length).toBeLessThanOrEqual(2 * maxFinished)
        const nested = Object.values(tree.children).flatMap(Object.values).flat()
        expect(nested.length).toBe(new Set(nested).size)
        expect(ids).toEqual(expect.arrayContaining(nested))
      }),
    )
  })
})
