import { describe, expect, it } from 'vitest'
import { withTimeLimit } from '../../waiting/within.ts'
import { type MakeSandbox, sharedSandbox } from '../kit.ts'
import { outputOf } from './content.ts'

const socket = `python3 -c 'import socket; socket.socket(socket.AF_UNIX).bind("special")'`

export function specialFileCases(make: MakeSandbox): void {
  describe('special files', () => {
    const shared = sharedSandbox(make)

    it.each([
      ['a FIFO', 'mkfifo special'],
      ['a socket', socket],
    ])('reads and writes refuse %s at once, and stat, move and remove work on it', async (_name, command) => {
      const { sandbox } = await shared()
      const { files } = sandbox
      await sandbox.exec(`${command}; ln -s special link`)
      const refused: [string, Promise<unknown>][] = [
        ['read', files.read('special')],
        ['read by a link', files.read('link')],
        ['write', files.write('special', 'x')],
        ['append', files.write('special', 'x', { append: true })],
        ['write by a link', files.write('link', 'x')],
      ]
      for (const [what, call] of refused)
        await expect(withTimeLimit(what, call), what).rejects.toMatchObject({ code: 'file_not_regular' })
      await expect(files.list('special')).rejects.toMatchObject({ code: 'file_not_directory' })
      expect(await withTimeLimit('the search', files.search('.', { content: 'x' }))).toEqual({
        hits: [],
        truncated: false,
      })
      expect(await files.stat('special')).toMatchObject({ kind: 'other' })
      await files.move('special', 'moved')
      await files.remove('moved')
      expect(await outputOf(sandbox, 'ls -A')).toBe('link')
    })
  })
}
