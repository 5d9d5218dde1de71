import { readdirSync, readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, it, vi } from 'vitest'

// Fresh copies of the modules: other tests of this process may have sandboxes, and with them a guard.
vi.resetModules()
const { hostMarker } = await import('../src/orphan-guard.ts')
const { openSandbox } = await import('./fixtures/sandbox.ts')

/** The guard processes of these modules, found by the marker in their arguments. */
function guards(): number[] {
  const marker = Object.entries(hostMarker).map(([name, value]) => `${name}=${value}`)[0] ?? ''
  return readdirSync('/proc')
    .map(Number)
    .filter((pid) => Number.isInteger(pid) && commandLine(pid).includes(marker))
}

function commandLine(pid: number): string[] {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'latin1').split('\0')
  } catch {
    return []
  }
}

async function until(condition: () => boolean): Promise<void> {
  await expect.poll(condition).toBe(true)
}

it('one guard serves all sandboxes, is replaced when it is killed, and ends with the last sandbox', async () => {
  const first = await openSandbox({ isolation: 'none' })
  const second = await openSandbox({ isolation: 'none' })
  await until(() => guards().length === 1)
  const [guard = 0] = guards()
  process.kill(guard, 'SIGKILL')
  await until(() => guards().length === 1 && guards()[0] !== guard)
  expect((await first.exec('echo on')).stdout).toBe('on\n')
  await first.close()
  await sleep(50)
  expect(guards()).toHaveLength(1)
  expect((await second.exec('echo still')).stdout).toBe('still\n')
  await second.close()
  await until(() => guards().length === 0)
})
