import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { buffer, text } from 'node:stream/consumers'
import { describe, expect, it } from 'vitest'
import { folder } from '../../../archives/test/fixtures/folder.ts'
import { tarOf } from '../../../archives/test/fixtures/tar-bytes.ts'
import { scene } from './fixtures/workspace.ts'

function source(): string {
  const path = folder()
  chmodSync(path, 0o777)
  writeFileSync(join(path, 'precious'), 'of the host', { mode: 0o666 })
  return path
}

async function bound(target: string) {
  const outside = source()
  const root = join(folder(), 'root')
  mkdirSync(root)
  chmodSync(join(root, '..'), 0o755)
  const made = await scene({
    root,
    isolation: 'bubblewrap',
    binds: [{ source: outside, target: join(root, target), writable: true }],
  })
  return { ...made, outside }
}

describe('a bind in the workspace', () => {
  it.each(['data', 'deep/er/data'])('a bind is never persisted: %s', async (target) => {
    const { sandbox } = await bound(target)
    await sandbox.exec(`echo mine > own; mkdir -p other/data; echo mine > other/data/f`)
    const saved = await buffer(await sandbox.persist())
    expect(saved.includes('of the host')).toBe(false)
    const { sandbox: another } = await scene()
    await another.hydrate(saved)
    const { stdout } = await another.exec('find . -type f | sort | tr "\\n" " "')
    expect(stdout.trim()).toBe('./other/data/f ./own')
  })

  it.each(['data', 'deep/er/data'])(
    'a bind survives a hydrate, which writes nothing to its path: %s',
    async (target) => {
      const { sandbox, outside } = await bound(target)
      await sandbox.exec('echo old > old')
      const top = target.split('/')[0]!
      for (const members of [
        [{ name: 'new', content: 'x' }],
        [
          { name: 'new', content: 'x' },
          { name: `${target}/evil`, content: 'x' },
        ],
        [
          { name: top, type: '2', target: '/etc' },
          { name: 'new', content: 'x' },
        ],
        [{ name: 'new' }, { name: top, content: 'a file' }],
      ]) {
        await sandbox.hydrate(tarOf(...members))
        expect((await sandbox.exec(`cat ${target}/precious; ls; ls ${target}`)).stdout).toBe(
          `of the host${[top, 'new'].toSorted().join('\n')}\nprecious\n`,
        )
      }
      expect(readFileSync(join(outside, 'precious'), 'utf8')).toBe('of the host')
      await sandbox.exec(`echo more > ${target}/by-command`)
      expect(readFileSync(join(outside, 'by-command'), 'utf8')).toBe('more\n')
    },
  )

  it.each(['data', 'data/below', '.', 'deep', 'deep/er', 'deep/er/data/x'])(
    'skipOnPersist rejects a path that overlaps with a bind: %s',
    async (path) => {
      const { sandbox } = await bound(path.startsWith('deep') ? 'deep/er/data' : 'data')
      await expect(sandbox.lifecycle.skipOnPersist(path)).rejects.toThrow(
        expect.objectContaining({ code: 'argument_invalid' }),
      )
    },
  )

  it('a bind is not changed by an archive that is uploaded over it', async () => {
    const { sandbox, outside } = await bound('data')
    const archive = tarOf({ name: 'data/precious', content: 'evil' }, { name: 'beside', content: 'x' })
    await expect(sandbox.files.upload('.', archive)).rejects.toMatchObject({ code: 'archive_refused' })
    expect(await sandbox.files.exists('beside')).toBe(false)
    expect(await text(await sandbox.files.read('data/precious'))).toBe('of the host')
    expect(readFileSync(join(outside, 'precious'), 'utf8')).toBe('of the host')
    expect((await sandbox.exec('cat data/precious')).stdout).toBe('of the host')
  })
})
