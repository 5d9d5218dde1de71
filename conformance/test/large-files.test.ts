import { Readable } from 'node:stream'
import { crc32 } from 'node:zlib'
import { describe, expect, it, onTestFinished } from 'vitest'
import { scale } from '../src/scale.ts'
import { remoteSandboxes } from './remote-sandboxes.ts'
import { localSandboxes } from './sandboxes.ts'

const { streamedBytes } = scale
const blockBytes = 1_000_000
/** Blocks in transit and those that the garbage collector has not freed yet; 5 GB were measured with 170 MB. */
const maxBufferedBytes = 500_000_000

/** Counts the bytes that pass, and how much memory all buffers of this process have at most. */
class Passed {
  bytes = 0
  checksum = 0
  buffered = 0

  add(part: Uint8Array): void {
    this.bytes += part.byteLength
    this.checksum = crc32(part, this.checksum)
    this.buffered = Math.max(this.buffered, process.memoryUsage().arrayBuffers)
  }
}

async function* blocks(passed: Passed, bytes = streamedBytes): AsyncGenerator<Uint8Array> {
  for (let done = 0; done < bytes; done += blockBytes) {
    const block = Buffer.alloc(blockBytes, 'x')
    block.writeDoubleLE(done)
    passed.add(block)
    yield block
  }
}

describe.each([
  ['in process', localSandboxes('none', 'memory')],
  ['over HTTP', remoteSandboxes('none')],
])('a large file, %s', (_, make) => {
  it('is written and read as a stream in bounded memory', async () => {
    const { sandbox, close } = await make({ watch: false })
    onTestFinished(close)
    const [written, read] = [new Passed(), new Passed()]
    const { size } = await sandbox.files.write('large', Readable.from(blocks(written)))
    expect(size).toBe(streamedBytes)
    for await (const part of await sandbox.files.read('large')) read.add(part)
    expect([read.bytes, read.checksum]).toEqual([written.bytes, written.checksum])
    expect(Math.max(read.buffered, written.buffered)).toBeLessThan(maxBufferedBytes)
  })

  it('is refused by the limit of the disk, with its name, and leaves nothing', async ({ skip }) => {
    const { sandbox, close } = await make({ watch: false, limits: { diskBytes: 16 * 1024 ** 2 } })
    onTestFinished(close)
    if (!sandbox.capabilities.limits.includes('disk-exact')) skip()
    await expect(
      sandbox.files.write('large', Readable.from(blocks(new Passed(), 40_000_000))),
    ).rejects.toMatchObject({
      code: 'disk_limit',
      message: expect.stringContaining('diskBytes'),
      hint: expect.stringContaining('local.limits.diskBytes'),
    })
    expect(await sandbox.files.exists('large')).toBe(false)
  })
})
