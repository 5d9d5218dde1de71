import { describe, expect, it } from 'vitest'
import { hostResources, withDefaultLimits } from '../../src/limits/default-limits.ts'

const gib = 1024 ** 3
const host = { memoryBytes: 16 * gib, pids: 32_768 }

describe('the default limits', () => {
  it('are a part of what the host has', () => {
    expect(withDefaultLimits({}, host)).toEqual({ memoryBytes: 8 * gib, pids: 4_096, tmpBytes: 2 * gib })
    expect(withDefaultLimits({}, { memoryBytes: 4 * gib, pids: 8_000 })).toEqual({
      memoryBytes: 2 * gib,
      pids: 2_000,
      tmpBytes: gib / 2,
    })
  })

  it('leave a small host a sandbox of up to a GiB', () => {
    expect(withDefaultLimits({}, { memoryBytes: 1.5 * gib })).toMatchObject({ memoryBytes: gib, pids: 4_096 })
    expect(withDefaultLimits({}, { memoryBytes: gib / 2 })).toMatchObject({ memoryBytes: gib / 2 })
  })

  it('give way to what is set or switched off', () => {
    expect(withDefaultLimits({ memoryBytes: 64, pids: false, cpus: 1 }, host)).toEqual({
      memoryBytes: 64,
      pids: false,
      tmpBytes: 16,
      cpus: 1,
    })
    expect(withDefaultLimits({ memoryBytes: false, tmpBytes: false }, host)).toEqual({
      memoryBytes: false,
      pids: 4_096,
      tmpBytes: false,
    })
  })

  it('know the memory of this host', () => {
    expect(hostResources().memoryBytes).toBeGreaterThan(0)
  })
})
