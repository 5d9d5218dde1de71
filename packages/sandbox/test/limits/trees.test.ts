import { describe, expect, it } from 'vitest'
import { commandTrees, leftBehind, treesUsingUp } from '../../src/limits/trees.ts'
import type { ProcessRow } from '../../src/machine/process-table.ts'

const row = (pid: number, parent: number, session: number, threads = 1): [number, ProcessRow] => [
  pid,
  { pid, parent, session, threads, startedAt: 0, ended: false },
]

describe('the processes inside', () => {
  const table = new Map([
    row(1, 0, 1),
    row(10, 1, 10),
    row(11, 10, 11, 5),
    row(12, 11, 11),
    row(20, 1, 20),
    row(21, 1, 20),
  ])
  const inside = new Map([...table].filter(([pid]) => pid !== 1))
  const trees = commandTrees(inside, table, new Map([[10, 'a']]))

  it('belong to the command that they descend from, or to the session of an ended one', () => {
    expect(trees).toEqual([
      { process: 'a', pids: [11, 12], size: 6 },
      { session: 20, pids: [20, 21], size: 2 },
    ])
    expect(leftBehind(trees)).toEqual([{ session: 20, pids: [20, 21], size: 2 }])
  })

  it('count with their ended children, which stay processes until their parent waits for them', () => {
    const [pid, ended] = row(13, 11, 11)
    const withEnded = new Map([...table, [pid, { ...ended, ended: true }] as const])
    expect(commandTrees(inside, withEnded, new Map([[10, 'a']]))[0]).toEqual({
      process: 'a',
      pids: [11, 12],
      size: 7,
    })
  })

  it('belong to no command if their parents form a circle', () => {
    const circle = new Map([row(30, 31, 30), row(31, 30, 30)])
    expect(commandTrees(circle, circle, new Map([[1, 'a']]))).toEqual([
      { session: 30, pids: [30, 31], size: 2 },
    ])
  })
})

describe('the trees that use up a limit of processes', () => {
  const a = { process: 'a', pids: [1], size: 40 }
  const b = { session: 2, pids: [2], size: 20 }
  const c = { session: 3, pids: [3], size: 20 }

  it('are the largest one, if it has half of the processes', () => {
    expect(treesUsingUp([b, a, c], 64)).toEqual([a])
  })

  it('are all processes left behind, if together they have half of them', () => {
    expect(treesUsingUp([{ ...a, size: 21 }, b, c], 64)).toEqual([b, c])
  })

  it('are none, if the processes are spread over several commands', () => {
    expect(treesUsingUp([{ ...a, size: 30 }, b], 64)).toEqual([])
    expect(treesUsingUp([], 64)).toEqual([])
  })
})
