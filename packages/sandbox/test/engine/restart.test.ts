import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { memoryStore, openStore } from '@vitrine/journal'
import { describe, expect, it, onTestFinished } from 'vitest'
import { type BuiltMachine, createLocalSandbox } from '../../src/index.ts'
import { openSandbox } from '../fixtures/sandbox.ts'
import { reasonToSkip } from '../isolation/fixtures/open-host.ts'

describe.skipIf(reasonToSkip('self'))('a sandbox that was isolated automatically', () => {
  it('does not start again without isolation when bwrap is gone', async () => {
    const sandbox = await openSandbox({ isolation: 'auto' })
    expect(sandbox.capabilities.isolation).toBe('namespaces')
    await sandbox.lifecycle.stop()
    withoutPrograms()
    await expect(sandbox.lifecycle.start()).rejects.toMatchObject({ code: 'isolation_unavailable' })
    await expect(sandbox.exec('true')).rejects.toMatchObject({ code: 'sandbox_not_running' })
  })
})

describe('a built machine', () => {
  it('is reported before a command runs, at every start', async () => {
    const machines: BuiltMachine[] = []
    const sandbox = await openSandbox(
      { isolation: 'none' },
      { onMachine: (machine) => void machines.push(machine), workspace: { setup: ['true'] } },
    )
    await sandbox.lifecycle.stop()
    await sandbox.lifecycle.start()
    expect(machines).toHaveLength(2)
    expect(machines[1]).toMatchObject({
      isolation: 'none',
      root: sandbox.root,
      degraded: expect.arrayContaining(['isolation']),
    })
  })

  it('is not used if it is refused', async () => {
    const refuse = () => {
      throw new Error('refused')
    }
    await expect(openSandbox({ isolation: 'none' }, { onMachine: refuse })).rejects.toThrow('refused')
  })
})

it.each(['host', 'loop_1'])('createLocalSandbox refuses the id %s, which another journal has', async (id) => {
  await using store = await openStore(memoryStore())
  await expect(createLocalSandbox({ id, store })).rejects.toMatchObject({ code: 'argument_invalid' })
  expect(await store.journals()).toEqual([])
})

/** Sets a PATH without programs until the test ends. */
function withoutPrograms(): void {
  const path = process.env.PATH
  const empty = mkdtempSync(join(tmpdir(), 'vitrine-path-'))
  process.env.PATH = empty
  onTestFinished(() => {
    process.env.PATH = path
    rmSync(empty, { recursive: true })
  })
}
