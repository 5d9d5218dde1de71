import type { SandboxRecord } from '@vitrine/protocol/records'
import { describe, expect, it } from 'vitest'
import { commandPolicy } from '../src/index.ts'
import { assertNotWeaker, restoreRecord } from '../src/restore-record.ts'

const record: SandboxRecord = {
  version: 1,
  id: 'one',
  provider: 'local',
  state: 'stopped',
  createdAt: '2026-01-01T00:00:00.000Z',
  labels: {},
  local: { isolation: 'bubblewrap', limits: { memoryBytes: 1_000_000, pids: 64 } },
  degraded: ['limits.pids'],
  policy: { deny: ['rm *'] },
  beforeStop: [{ command: 'npm run save' }],
  skipOnPersist: ['cache'],
}
const machine = {
  isolation: 'bubblewrap',
  root: '/x',
  degraded: ['limits.pids'],
  limits: {},
  identifiedBy: '/x',
} as const

describe('a machine', () => {
  it('may have the same restrictions as the one before, or more', () => {
    expect(() => assertNotWeaker(record, machine)).not.toThrow()
    expect(() => assertNotWeaker(record, { ...machine, degraded: [] })).not.toThrow()
  })

  it('is refused without a limit that was in force, unless that is allowed', () => {
    const weaker = { ...machine, degraded: ['limits.memoryBytes', 'limits.pids'] }
    expect(() => assertNotWeaker(record, weaker)).toThrow(
      expect.objectContaining({
        code: 'restriction_unavailable',
        message: expect.stringContaining('limits.memoryBytes'),
      }),
    )
    expect(() => assertNotWeaker(record, weaker, ['limits.memoryBytes'])).not.toThrow()
  })

  it('is refused without isolation', () => {
    expect(() => assertNotWeaker(record, { ...machine, isolation: 'none' })).toThrow(
      expect.objectContaining({ code: 'isolation_unavailable' }),
    )
  })
})

describe('an attach', () => {
  it('changes nothing without options, nor with those of the record', () => {
    expect(restoreRecord(record, {})).toEqual({ record, changes: {} })
    const same = { policy: commandPolicy({ deny: ['rm *'] }), hooks: { beforeStop: ['npm run save'] } }
    expect(restoreRecord(record, same)).toEqual({ record, changes: {} })
  })

  it('names each field that it changes', () => {
    const given = {
      policy: commandPolicy({ otherwise: 'allow' }),
      onAsk: () => true,
      hooks: { beforeStop: [] },
      isolation: 'none',
    } as const
    expect(restoreRecord(record, given).changes).toEqual({
      policy: { otherwise: 'allow' },
      onAsk: 'function',
      beforeStop: [],
      isolation: 'none',
    })
  })

  it('needs a function that was asked before, unless another policy is given', () => {
    const asking: SandboxRecord = { ...record, onAsk: 'function' }
    expect(() => restoreRecord(asking, {})).toThrow(expect.objectContaining({ code: 'attach_incomplete' }))
    expect(restoreRecord(asking, { onAsk: () => true }).changes).toEqual({})
    const { record: next, changes } = restoreRecord(asking, { policy: commandPolicy({ otherwise: 'deny' }) })
    expect([next.onAsk, changes]).toEqual([undefined, { policy: { otherwise: 'deny' }, onAsk: null }])
  })
})
