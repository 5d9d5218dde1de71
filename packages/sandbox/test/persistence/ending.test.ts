import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { tarOf } from '../../../archives/test/fixtures/tar-bytes.ts'
import { scene } from './fixtures/workspace.ts'

const many = 3_000
const archiveOf = (label: string) =>
  tarOf(...Array.from({ length: many }, (_, index) => ({ name: `${label}${index}`, content: label })))

async function untilGone(path: string): Promise<void> {
  while (existsSync(path)) await new Promise(setImmediate)
}

async function untilThere(path: string): Promise<void> {
  while (!existsSync(path)) await new Promise(setImmediate)
}

it('a shutdown during the swap of a hydrate leaves the old or the new contents, complete', async () => {
  const { sandbox, root, staged } = await scene({ watch: false })
  await sandbox.hydrate(archiveOf('old'))
  const hydrating = sandbox.hydrate(archiveOf('new')).catch(() => undefined)
  // Entries are moved in the order of their names, and this one is the first.
  await untilGone(join(root, 'old0'))
  await sandbox.lifecycle.shutdown()
  await hydrating
  const labels = readdirSync(root).map((name) => name.slice(0, 3))
  expect({ count: labels.length, labels: [...new Set(labels)].length }).toEqual({ count: many, labels: 1 })
  expect(staged()).toEqual([])
})

it('a shutdown during the merge of an upload leaves all of it or nothing', async () => {
  const { sandbox, root, staged } = await scene({ watch: false })
  await sandbox.exec('mkdir in; echo kept > in/kept')
  const uploading = sandbox.files.upload('in', archiveOf('new')).catch(() => undefined)
  await untilThere(join(root, 'in/new0'))
  await sandbox.lifecycle.shutdown()
  await uploading
  expect([1, many + 1]).toContain(readdirSync(join(root, 'in')).length)
  expect(staged()).toEqual([])
})
