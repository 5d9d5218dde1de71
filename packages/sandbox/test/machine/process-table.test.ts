import { spawn } from 'node:child_process'
import { once } from 'node:events'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  carriesMarker,
  descendantsOf,
  type ProcessRow,
  parseRow,
  readProcessTable,
  readRow,
} from '../../src/machine/process-table.ts'

function stat(name: string, state = 'S'): string {
  const fields = [state, 7, 42, 40, ...Array(13).fill(0), 3, 0, 987_654, 4_096, 1]
  return `42 (${name}) ${fields.join(' ')}\n`
}

describe('a row of the process table', () => {
  it.each(['sh', 'a b', '(sd-pam)', 'a) S 1 2', 'new\nline', ') R 9 9 (', ''])(
    'parses the row of a process with the name %j',
    (name) => {
      expect(parseRow(stat(name))).toEqual({
        pid: 42,
        parent: 7,
        session: 40,
        startedAt: 987_654,
        threads: 3,
        ended: false,
      })
    },
  )

  it('parses the row of a process with any name', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary-ascii', maxLength: 15 }), (name) => {
        expect(parseRow(stat(name))).toMatchObject({ pid: 42, parent: 7, startedAt: 987_654 })
      }),
    )
  })

  it.each([
    ['R', false],
    ['T', false],
    ['D', false],
    ['Z', true],
    ['X', true],
  ])('a row in state %s says whether the process has ended: %s', (state, ended) => {
    expect(parseRow(stat('sh', state))?.ended).toBe(ended)
  })

  it.each(['', '42 (sh) S 7', 'x (sh) S 7 42 40'])('returns no row for the malformed text %j', (text) => {
    expect(parseRow(text)).toBeUndefined()
  })

  it('finds the row of this process, and none of a process that never existed', () => {
    expect(readRow(process.pid)).toMatchObject({ pid: process.pid, parent: process.ppid, ended: false })
    expect(readRow(0x7fff_ffff)).toBeUndefined()
  })
})

describe('the descendants of processes', () => {
  const row = (pid: number, parent: number): [number, ProcessRow] => [
    pid,
    { pid, parent, session: 0, startedAt: 0, threads: 1, ended: false },
  ]

  it.each([
    [[1], [2, 3, 4]],
    [[2], [4]],
    [[2, 4], [4]],
    [[9], []],
    [[], []],
  ])('the descendants of %j are %j', (roots, found) => {
    const table = new Map([row(1, 0), row(2, 1), row(3, 1), row(4, 2), row(8, 7)])
    expect([...descendantsOf(roots, table)].sort()).toEqual(found)
  })

  it('finds descendants even if parents form a cycle', () => {
    const table = new Map([row(1, 2), row(2, 1)])
    expect([...descendantsOf([1], table)].sort()).toEqual([1, 2])
  })

  it('carriesMarker finds the variable that a process was started with, and no other', async () => {
    const child = spawn('sleep', ['60'], { env: { MARK: 'one two' } })
    await once(child, 'spawn')
    expect(carriesMarker(child.pid ?? 0, 'MARK=one two')).toBe(true)
    expect(carriesMarker(child.pid ?? 0, 'MARK=one')).toBe(false)
    expect(descendantsOf([process.pid], readProcessTable())).toContain(child.pid)
    child.kill('SIGKILL')
    await once(child, 'exit')
    expect(carriesMarker(child.pid ?? 0, 'MARK=one two')).toBe(false)
  })
})
