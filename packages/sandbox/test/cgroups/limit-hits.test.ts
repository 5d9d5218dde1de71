import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { LimitCounters } from '../../src/cgroups/limit-hits.ts'

function group(version: 1 | 2, files: Readonly<Record<string, string>>) {
  const folder = mkdtempSync(join(tmpdir(), 'vitrine-counters-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text)
  return { version, folder, abilities: new Set<never>() }
}

function counters(...groups: ReturnType<typeof group>[]) {
  const opened = new LimitCounters(groups, ['memoryBytes', 'pids'])
  onTestFinished(() => opened.close())
  return opened
}

describe('the counters of hit limits', () => {
  test('are in the group of cgroup v2', () => {
    const v2 = group(2, {
      'memory.events': 'low 0\nhigh 0\nmax 12\noom 3\noom_kill 2\noom_group_kill 0\n',
      'pids.events': 'max 7\n',
      'pids.current': '64\n',
    })
    expect(counters(v2).read()).toEqual({ memoryBytes: 2, pids: 7 })
    expect(counters(v2).pidsInUse()).toBe(64)
  })

  test('are in one group for each controller of cgroup v1', () => {
    const memory = group(1, { 'memory.oom_control': 'oom_kill_disable 0\nunder_oom 0\noom_kill 2\n' })
    const pids = group(1, { 'pids.events': 'max 7\n', 'pids.current': '3\n' })
    expect(counters(group(2, {}), memory, pids).read()).toEqual({ memoryBytes: 2, pids: 7 })
    expect(counters(group(2, {}), memory, pids).pidsInUse()).toBe(3)
  })

  test('are missing for a limit that is not set', () => {
    expect(counters(group(2, {})).read()).toEqual({})
    expect(counters(group(2, {})).pidsInUse()).toBeUndefined()
  })

  test('are read again from the same files', () => {
    const pids = group(2, { 'pids.events': 'max 0\n' })
    const opened = counters(pids)
    expect(opened.read()).toEqual({ pids: 0 })
    writeFileSync(join(pids.folder, 'pids.events'), 'max 12\n')
    expect(opened.read()).toEqual({ pids: 12 })
  })
})
