import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { dirname } from 'node:path'
import { local } from '@vitrine/host'
import { defineSandbox } from '@vitrine/runtime'
import { expect, onTestFinished, test } from 'vitest'

const context = { threadId: 'thread-1', runId: 'run-1' }
const isolation = 'none'

test('a definition on local() has a host of its own, and leaves nothing when it is closed', async () => {
  const definition = defineSandbox({ id: 'own', provider: local({ isolation }) })
  const sandbox = await definition.ensure(context)
  expect((await sandbox.exec('echo here')).stdout).toBe('here\n')
  const data = dirname(dirname(dirname(sandbox.root)))
  expect(existsSync(data)).toBe(true)
  await definition.close()
  expect(existsSync(data)).toBe(false)
})

test('a definition on local({ data }) finds its sandbox again in a later process', async () => {
  const data = mkdtempSync('/var/tmp/definition-')
  onTestFinished(() => rmSync(data, { recursive: true, force: true }))
  const define = () => defineSandbox({ id: 'kept', provider: local({ data, isolation }) })
  const first = define()
  const { id, files } = await first.ensure(context)
  await files.write('note.txt', 'kept')
  await first.close()
  const second = define()
  onTestFinished(() => second.close())
  const again = await second.ensureExisting(context)
  expect(again?.id).toBe(id)
  expect((await again?.exec('cat note.txt'))?.stdout).toBe('kept')
  expect(readdirSync(data).length).toBeGreaterThan(0)
})
