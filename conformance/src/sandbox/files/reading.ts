import { describe, expect, it } from 'vitest'
import { type MakeSandbox, sharedSandbox } from '../kit.ts'
import { outputOf, readBytes, readText, someBytes } from './content.ts'

export function readingCases(make: MakeSandbox): void {
  describe('reading', () => {
    const shared = sharedSandbox(make)

    it('read returns what a command wrote, byte for byte', async () => {
      const { sandbox } = await shared()
      await sandbox.exec("printf 'a\\0\\377é\\n' > small; : > empty")
      expect(await readBytes(sandbox, 'small')).toEqual(Buffer.from('a\0\xff\xc3\xa9\n', 'latin1'))
      expect(await readText(sandbox, 'empty')).toBe('')
      expect(await readText(sandbox, `${sandbox.root}/empty`)).toBe('')
    })

    it('read streams a large file completely', async () => {
      const { sandbox } = await shared()
      const bytes = someBytes(3_000_001)
      await sandbox.files.write('large', bytes)
      expect((await readBytes(sandbox, 'large')).equals(bytes)).toBe(true)
    })

    it.each([
      [{ from: 0, to: 3 }, 'abc'],
      [{ from: 2 }, 'cdef'],
      [{ to: 2 }, 'ab'],
      [{ from: 2, to: 2 }, ''],
      [{ from: 6 }, ''],
      [{ from: 4, to: 100 }, 'ef'],
    ])('read returns the range %o', async (range, text) => {
      const { sandbox } = await shared()
      await sandbox.files.write('file', 'abcdef')
      expect(await readText(sandbox, 'file', range)).toBe(text)
    })

    it('read returns a range of a large file', async () => {
      const { sandbox } = await shared()
      const bytes = someBytes(1_000_000)
      await sandbox.files.write('large', bytes)
      const stream = await sandbox.files.read('large', { from: 123_456, to: 876_543 })
      const got = Buffer.from(await new Response(stream).arrayBuffer())
      expect(got.equals(bytes.subarray(123_456, 876_543))).toBe(true)
    })

    it('read refuses invalid ranges', async () => {
      const { sandbox } = await shared()
      await sandbox.files.write('file', 'abcdef')
      await expect(sandbox.files.read('file', { from: 7 })).rejects.toMatchObject({ code: 'range_invalid' })
      for (const range of [{ from: -1 }, { from: 1.5 }, { from: 3, to: 2 }, { to: Number.NaN }])
        await expect(sandbox.files.read('file', range)).rejects.toMatchObject({ code: 'argument_invalid' })
    })

    it('read refuses missing paths and paths that are no file', async () => {
      const { sandbox } = await shared()
      await sandbox.exec('mkdir folder; : > file')
      for (const [path, code] of [
        ['missing', 'file_not_found'],
        ['missing/deeper', 'file_not_found'],
        ['folder', 'file_is_directory'],
        ['.', 'file_is_directory'],
        ['file/deeper', 'file_not_directory'],
        ['file/', 'file_not_directory'],
        ['file/..', 'file_not_directory'],
      ] as const)
        await expect(sandbox.files.read(path), path).rejects.toMatchObject({ code, hint: expect.any(String) })
    })

    it('read continues with the opened file when it is replaced meanwhile', async () => {
      const { sandbox } = await shared()
      const old = someBytes(2_000_000)
      await sandbox.files.write('file', old)
      const stream = await sandbox.files.read('file')
      const reader = stream.getReader()
      const first = await reader.read()
      await sandbox.files.write('file', 'new')
      const parts = [first.value!]
      for (let part = await reader.read(); !part.done; part = await reader.read()) parts.push(part.value)
      expect(Buffer.concat(parts).equals(old)).toBe(true)
      expect(await outputOf(sandbox, 'cat file')).toBe('new')
    })

    it('read ends when its signal is aborted', async () => {
      const { sandbox } = await shared()
      await sandbox.files.write('large', someBytes(2_000_000))
      const caller = new AbortController()
      const reader = (await sandbox.files.read('large', { signal: caller.signal })).getReader()
      await reader.read()
      caller.abort()
      const readRest = async () => {
        while (!(await reader.read()).done);
      }
      await expect(readRest()).rejects.toMatchObject({ code: 'cancelled' })
      await expect(sandbox.files.read('large', { signal: caller.signal })).rejects.toMatchObject({
        code: 'cancelled',
      })
    })
  })
}
