import { expect, it, onTestFinished, vi } from 'vitest'
import { SandboxFileSystem } from '../../src/engine/sandbox-file-system.ts'
import { scene } from './fixtures/workspace.ts'

it('a stop that cannot persist still ends the sandbox, and rejects', async () => {
  const { sandbox } = await scene()
  const settle = vi
    .spyOn(SandboxFileSystem.prototype, 'flushWatcher')
    .mockRejectedValueOnce(new Error('the disk is gone'))
  onTestFinished(() => settle.mockRestore())
  await expect(sandbox.lifecycle.stop()).rejects.toThrow('the disk is gone')
  expect(await sandbox.lifecycle.running()).toBe(false)
  await sandbox.lifecycle.start()
  await sandbox.lifecycle.stop()
})
