import { mkdtempSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { scale } from '../src/scale.ts'
import { remoteSandboxes } from './remote-sandboxes.ts'
import { localSandboxes } from './sandboxes.ts'

function newDirectory(): string {
  const path = mkdtempSync(join(tmpdir(), 'vitrine-sparse-'))
  onTestFinished(() => rmSync(path, { recursive: true, force: true }))
  return path
}

describe.each([
  ['in process', localSandboxes('none', 'memory')],
  ['over HTTP', remoteSandboxes('none')],
])('a directory with a sparse file, %s', (_, make) => {
  it('is uploaded and downloaded without the holes', async () => {
    const { sandbox, close } = await make({ watch: false })
    onTestFinished(close)
    const path = newDirectory()
    writeFileSync(join(path, 'disk.img'), 'head')
    truncateSync(join(path, 'disk.img'), scale.sparseBytes)
    let sent = 0
    await sandbox.files.uploadDirectory(path, {
      to: 'in',
      onProgress: ({ bytes }) => {
        sent = bytes
      },
    })
    expect(sent).toBeLessThan(1_000_000)
    expect(await sandbox.files.stat('in/disk.img')).toMatchObject({ size: scale.sparseBytes })
    const back = newDirectory()
    await sandbox.files.downloadDirectory(back, { from: 'in' })
    const { size, blocks } = statSync(join(back, 'disk.img'))
    expect(size).toBe(scale.sparseBytes)
    expect(blocks * 512).toBeLessThan(10_000_000)
  })
})
