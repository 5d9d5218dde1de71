import { describe, expect, it } from 'vitest'
import { parseSandboxRecord, type recordSchemas, type SandboxRecord } from '../../src/records/index.ts'
import { type InputOf, type Same, same } from '../options/same.ts'

const current: SandboxRecord = {
  version: 1,
  id: 'one',
  provider: 'local',
  state: 'stopped',
  createdAt: '2026-01-01T00:00:00.000Z',
  labels: { team: 'red' },
  local: { isolation: 'bubblewrap', egress: ['registry.example:443'], limits: { pids: 64 }, user: 'nobody' },
  degraded: ['limits.cpus'],
  policy: { allow: ['echo *'], ask: [['git', 'push']], deny: ['sudo *'], otherwise: 'deny' },
  onAsk: 'function',
  beforeStop: [{ command: 'npm run save' }, { command: ['sync'] }, { function: 'save' }],
  skipOnPersist: ['cache'],
  persistenceBlocked: true,
  workspace: {
    env: { A: '1' },
    files: { a: 'text', b: { base64: 'AP8=' }, c: { content: { base64: 'AP8=' }, mode: 0o600 } },
  },
  directory: { path: '/x', device: 1, inode: 2 },
}

/** A record as it was stored before records had a version. */
const version0 = {
  id: 'old',
  provider: 'local',
  state: 'stopped',
  createdAt: '2025-01-01T00:00:00.000Z',
  labels: {},
  local: { egress: ['registry.example:443'] },
  workspace: { files: { a: 'text', b: { base64: 'AP8=' }, c: { base64: 'AP8=', mode: 0o600 } } },
  directory: { path: '/x', device: 1, inode: 2 },
}

describe('a sandbox record', () => {
  it('is read as it was written, and has a schema with the same fields as its type', () => {
    expect(parseSandboxRecord(JSON.parse(JSON.stringify(current)))).toEqual(current)
    same<Same<SandboxRecord, InputOf<typeof recordSchemas.sandbox>>>()
  })

  it('is migrated from version 0 with the defaults of the host, without which its options were stored', () => {
    const defaults = { isolation: 'bubblewrap', egress: ['other.example:443'] } as const
    expect(parseSandboxRecord(version0, { defaults })).toEqual({
      ...version0,
      version: 1,
      local: { isolation: 'bubblewrap', egress: ['registry.example:443'] },
      beforeStop: [],
      skipOnPersist: [],
      workspace: {
        files: { a: 'text', b: { base64: 'AP8=' }, c: { content: { base64: 'AP8=' }, mode: 0o600 } },
      },
    })
  })

  it('gets no limit of disk space with a migration, which would give it another workspace', () => {
    const defaults = { limits: { diskBytes: 2 ** 30, pids: 64 } }
    expect(parseSandboxRecord(version0, { defaults }).local.limits).toEqual({ pids: 64 })
  })

  it.each([
    ['no object', [], 'expected an object'],
    ['a newer version', { ...current, version: 2 }, 'a newer Vitrine wrote the record'],
    ['an unknown field', { ...current, polciy: {} }, 'did you mean "policy"?'],
    ['a restriction that is not valid', { ...current, local: { isolation: 'vm' } }, 'local.isolation'],
    ['an id that is reserved', { ...current, id: 'host' }, 'reserved for another journal'],
    ['a missing field', { ...version0, labels: undefined }, 'labels'],
  ])('is refused with %s', (_, stored, message) => {
    expect(() => parseSandboxRecord(stored)).toThrow(message)
  })
})
