import { describe, expect, it } from 'vitest'
import { type MakeSandbox, sharedSandbox } from '../kit.ts'
import { outputOf, readText } from './content.ts'

const odd = [
  'with space',
  ' ',
  '-rf',
  '*',
  '?',
  '~',
  '$HOME',
  '`id`',
  'new\nline',
  'tab\t',
  '"quoted\'',
  'back\\slash',
  '...',
  '..x',
  'é',
  'e\u0301',
  '😀',
  '\ufffd',
  '\ufeffbom',
  'CON',
  '__proto__',
  'constructor',
  'x'.repeat(255),
]

export function nameCases(make: MakeSandbox): void {
  describe('names', () => {
    const shared = sharedSandbox(make)

    it('file names may be anything that the file system accepts', async () => {
      const { sandbox } = await shared()
      for (const name of odd) {
        await sandbox.files.write(name, name)
        expect(await readText(sandbox, name), name).toBe(name)
        expect(await sandbox.files.stat(name)).toMatchObject({ path: name })
      }
      const { entries } = await sandbox.files.list('.')
      expect(entries.map(({ path }) => path)).toEqual(odd.toSorted())
      expect((await sandbox.files.search('.', { name: '*' })).hits).toHaveLength(odd.length)
      expect(await outputOf(sandbox, 'find . -type f -print0 | tr -cd "\\0" | wc -c')).toBe(`${odd.length}`)
      for (const name of odd) await sandbox.files.remove(name)
      expect(await outputOf(sandbox, 'ls -A')).toBe('')
    })

    it('file names that are not UTF-8 are preserved byte for byte', async () => {
      const { sandbox } = await shared()
      const { files } = sandbox
      await sandbox.exec(
        `printf in > "$(printf 'a\\377b')"; mkdir "$(printf '\\200')"; printf deep > "$(printf '\\200/\\303\\251\\303')"; ln -s "$(printf '\\200')" link`,
      )
      const { entries } = await files.list('.')
      expect(entries.map(({ path }) => path)).toEqual(['a\udcffb', 'link', '\udc80'])
      expect(entries[1]).toMatchObject({ target: '\udc80' })
      expect(await readText(sandbox, 'a\udcffb')).toBe('in')
      expect(await readText(sandbox, '\udc80/é\udcc3')).toBe('deep')
      expect(await readText(sandbox, 'link/é\udcc3')).toBe('deep')
      expect((await files.search('.', { content: 'deep' })).hits).toMatchObject([{ path: '\udc80/é\udcc3' }])
      await files.write('new\udcfe', 'x')
      await files.move('new\udcfe', 'moved\udcfd')
      expect(await outputOf(sandbox, `ls | grep -a moved | od -An -tx1`)).toBe(' 6d 6f 76 65 64 fd 0a')
      await files.remove('\udc80', { recursive: true })
      expect(await files.exists('\udc80')).toBe(false)
    })

    it('escaped bytes that form valid UTF-8 mean the decoded name', async () => {
      const { sandbox } = await shared()
      await sandbox.files.write('é', 'x')
      expect(await sandbox.files.stat('\udcc3\udca9')).toMatchObject({ path: 'é' })
    })

    it.each([
      ['no characters', '', 'argument_invalid'],
      ['a NUL', 'a\0b', 'argument_invalid'],
      ['half a character', 'a\ud800b', 'argument_invalid'],
      ['half a character that is no byte', 'a\udc7fb', 'argument_invalid'],
      ['a drive', 'C:\\x', 'argument_invalid'],
      ['a drive with slashes', 'C:/x', 'argument_invalid'],
      ['a share', '\\\\host\\share', 'argument_invalid'],
      ['a name of 256 bytes', 'x'.repeat(256), 'path_too_long'],
      ['a name of 128 letters in 256 bytes', 'é'.repeat(128), 'path_too_long'],
      ['a path of 5,000 bytes', 'x/'.repeat(2_500), 'path_too_long'],
    ])('every file call refuses a path with %s', async (_name, path, code) => {
      const { sandbox } = await shared()
      const { files } = sandbox
      await files.write('file', '')
      for (const call of [
        () => files.read(path),
        () => files.write(path, 'x', { parents: true }),
        () => files.list(path),
        () => files.stat(path),
        () => files.exists(path),
        () => files.mkdir(path, { parents: true }),
        () => files.move(path, 'x'),
        () => files.move('file', path, { parents: true }),
        () => files.remove(path, { recursive: true, force: true }),
        () => files.chmod(path, 0o600),
        () => files.search(path, { name: 'x' }),
      ])
        await expect(call(), String(call)).rejects.toMatchObject({ code, hint: expect.any(String) })
      expect(await outputOf(sandbox, 'ls -A')).toBe('file')
    })
  })
}
