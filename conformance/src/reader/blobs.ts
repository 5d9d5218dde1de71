import type { Journal } from '@vitrine/journal'
import type { BlobRef } from '@vitrine/protocol'
import { describe, expect, it } from 'vitest'
import { message } from '../events/inputs.ts'
import { type MakeWriterAndReader, newReaderFixture } from './fixture.ts'

const unknown = `sha256:${'0'.repeat(64)}`

export function blobCases(make: MakeWriterAndReader): void {
  describe('blobs', () => {
    it('returns the bytes that an event refers to, whole and in ranges', async () => {
      const { writer, reader } = await newReaderFixture(make)
      const { hash, text } = await largeMessage(writer)
      const one = await reader()
      const bytes = Buffer.from(text)
      expect(await bytesOf(one.blob(hash))).toEqual(bytes)
      for (const [range, start, end] of [
        [{}, 0, bytes.length],
        [{ from: 0, to: 1 }, 0, 1],
        [{ from: 65_530, to: 65_540 }, 65_530, 65_540],
        [{ from: bytes.length - 3 }, bytes.length - 3, bytes.length],
        [{ to: 7 }, 0, 7],
        [{ from: 5, to: 5 }, 5, 5],
        [{ from: bytes.length }, bytes.length, bytes.length],
        [{ from: bytes.length - 2, to: bytes.length + 100 }, bytes.length - 2, bytes.length],
      ] as const)
        expect(await bytesOf(one.blob(hash, range)), JSON.stringify(range)).toEqual(
          bytes.subarray(start, end),
        )
    })

    it('refuses unknown blobs and ranges outside of a blob, with their codes', async () => {
      const { writer, reader } = await newReaderFixture(make)
      const { hash, text } = await largeMessage(writer)
      const one = await reader()
      for (const other of [unknown, 'nonsense', '../events', `${hash} `])
        await expect(one.blob(other), other).rejects.toMatchObject({ code: 'blob_not_found' })
      await expect(one.blob(unknown, { from: 1, to: 2 })).rejects.toMatchObject({ code: 'blob_not_found' })
      const size = Buffer.byteLength(text)
      for (const range of [{ from: size + 1 }, { from: size + 5, to: size + 9 }])
        await expect(one.blob(hash, range)).rejects.toMatchObject({ code: 'range_invalid' })
      for (const range of [{ from: -1 }, { from: 1.5 }, { from: 3, to: 2 }, { to: Number.NaN }, { form: 1 }])
        await expect(one.blob(hash, range), JSON.stringify(range)).rejects.toMatchObject({
          code: 'argument_invalid',
        })
      expect(await bytesOf(one.blob(hash, { to: 3 }))).toEqual(Buffer.from(text.slice(0, 3)))
    })
  })
}

/** Appends a message that is too large for its event, so that its text becomes a blob. */
export async function largeMessage(
  writer: Journal,
  text = 'a large text. '.repeat(6_000),
): Promise<{ readonly hash: string; readonly text: string }> {
  const [event] = await writer.append([message(text)])
  const { blob } = (event?.data.message ?? {}) as Partial<BlobRef>
  if (blob === undefined) throw new Error('Expected the text to be a blob.')
  return { hash: blob, text }
}

export async function bytesOf(stream: Promise<ReadableStream<Uint8Array>>): Promise<Buffer> {
  return Buffer.from(await new Response(await stream).arrayBuffer())
}
