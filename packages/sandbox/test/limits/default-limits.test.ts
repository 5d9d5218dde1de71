import { describe, expect, it } from 'vitest'
import { leastPidsMax } from '../../src/cgroups/pids-max.ts'
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

  it('leave a host in a container of few processes half of them', () => {
    const pids = (max: number) => withDefaultLimits({}, { memoryBytes: gib, pids: max }).pids
    expect([100, 512, 1_000, 2_000, 4_000].map(pids)).toEqual([50, 256, 256, 500, 1_000])
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

describe('the processes that a container may have', () => {
  const least = (own: string, mountinfo: string, files: Record<string, string>) =>
    leastPidsMax({ own, mountinfo, read: (path) => files[path] })
  const v2 = '30 23 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw'

  it('are the least number that a control group around the host allows', () => {
    const files = {
      '/sys/fs/cgroup/a/b/pids.max': 'max\n',
      '/sys/fs/cgroup/a/pids.max': '300\n',
      '/sys/fs/cgroup/pids.max': '500\n',
      '/sys/fs/cgroup/other/pids.max': '10\n',
    }
    expect(least('0::/a/b\n', v2, files)).toBe(300)
    expect(least('0::/\n', v2, files)).toBe(500)
  })

  it('are known under v1 too, and not limited where no group says so', () => {
    const v1 = '39 31 0:36 / /sys/fs/cgroup/pids rw - cgroup cgroup rw,pids'
    expect(least('8:pids:/docker/x\n', v1, { '/sys/fs/cgroup/pids/docker/x/pids.max': '64\n' })).toBe(64)
    expect(least('0::/a\n', v2, { '/sys/fs/cgroup/a/pids.max': 'max\n' })).toBeUndefined()
    expect(least('', '', {})).toBeUndefined()
  })
})
