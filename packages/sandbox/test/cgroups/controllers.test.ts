import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { enableControllers } from '../../src/cgroups/controllers.ts'

/** A folder that looks like a v2 group. */
function group(files: Record<string, string>): string {
  const folder = mkdtempSync(join(tmpdir(), 'vitrine-cgroup-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text)
  return folder
}

const whole = { 'cgroup.controllers': 'cpuset cpu io memory pids\n', 'cgroup.subtree_control': '' }

describe('enableControllers', () => {
  test('enables the available controllers', async () => {
    const folder = group({ ...whole, 'cgroup.type': 'domain\n', 'cgroup.procs': '' })
    expect((await enableControllers(folder)).enabled).toEqual(['memory', 'cpu', 'pids'])
    expect(readFileSync(join(folder, 'cgroup.subtree_control'), 'utf8')).toBe('+pids')
  })

  test('accepts enabled controllers even if the group contains processes', async () => {
    const folder = group({
      'cgroup.controllers': 'memory pids\n',
      'cgroup.subtree_control': 'memory pids\n',
      'cgroup.type': 'domain\n',
      'cgroup.procs': '1\n',
    })
    const { enabled, reasons } = await enableControllers(folder)
    expect(enabled).toEqual(['memory', 'pids'])
    expect(reasons.get('cpu')).toContain('has no cpu')
  })

  test('enables nothing below a group that contains processes, and gives the reason', async () => {
    const folder = group({ ...whole, 'cgroup.type': 'domain\n', 'cgroup.procs': '1\n' })
    const { enabled, reasons } = await enableControllers(folder)
    expect(enabled).toEqual([])
    expect(reasons.get('memory')).toContain('contains processes')
    expect(readFileSync(join(folder, 'cgroup.subtree_control'), 'utf8')).toBe('')
  })

  test('the root group may contain processes', async () => {
    const folder = group({ ...whole, 'cgroup.procs': '1\n2\n' })
    expect((await enableControllers(folder)).enabled).toEqual(['memory', 'cpu', 'pids'])
  })
})
