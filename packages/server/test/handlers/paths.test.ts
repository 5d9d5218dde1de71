import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { jsonBody, openDaemon, problemOf, type TestDaemon } from '../daemon.ts'

let daemon: TestDaemon
let root: string
let outside: string
beforeAll(async () => {
  daemon = await openDaemon()
  root = (await daemon.call('POST', `/v1/sandboxes/${daemon.sandbox}/attach`)).root
  outside = `${daemon.data}/outside`
  mkdirSync(`${outside}/folder`, { recursive: true })
  writeFileSync(`${outside}/secret.txt`, 'not yours')
  symlinkSync(`${outside}/secret.txt`, `${root}/to-file`)
  symlinkSync(outside, `${root}/to-folder`)
  symlinkSync(`${outside}/new.txt`, `${root}/dangling`)
  symlinkSync('../../../../../../etc/passwd', `${root}/relative`)
  symlinkSync('loop', `${root}/loop`)
})
afterAll(() => daemon.close())

const tricks = [
  '../secret.txt',
  '../../../../../../../../etc/passwd',
  'x/../../../../../../../../etc/passwd',
  '/etc/passwd',
  '//etc/passwd',
  '/proc/self/environ',
  '/proc/1/root/etc/passwd',
  'to-file',
  'to-folder/secret.txt',
  'to-folder/../secret.txt',
  'relative',
  'loop',
  'nul\0.txt',
  '../secret.txt\0.png',
]

describe('a path that leads out', () => {
  const encoded = encodeURIComponent
  const problemFor = async (path: string, init?: RequestInit) => {
    const problem = await problemOf(await daemon.fetch(path, init))
    expect(problem.status, JSON.stringify(problem)).toBeGreaterThanOrEqual(400)
    expect(problem.status, JSON.stringify(problem)).toBeLessThan(500)
    expect(JSON.stringify(problem)).not.toContain('not yours')
    return problem
  }

  it.each([...tricks, `ABS/secret.txt`])('is not read: %j', async (trick) => {
    const path = encoded(trick.replace('ABS', outside))
    await problemFor(`/v1/files/content?path=${path}`)
    await problemFor(`/v1/files/content?path=${path}`, { headers: { range: 'bytes=0-3' } })
    await problemFor(`/v1/files/archive?path=${path}`)
  })

  it.each([...tricks, 'dangling', 'to-folder/new.txt', 'ABS/new.txt'])(
    'is not written: %j',
    async (trick) => {
      const path = trick.replace('ABS', outside)
      await problemFor(`/v1/files/content?path=${encoded(path)}`, { method: 'PUT', body: 'mine' })
      await problemFor(`/v1/files/content?path=${encoded(path)}&append=true&parents=true`, {
        method: 'PUT',
        body: 'mine',
      })
      expect(readFileSync(`${outside}/secret.txt`, 'utf8')).toBe('not yours')
      expect(existsSync(`${outside}/new.txt`)).toBe(false)
    },
  )

  it('is not listed, made, moved, removed, changed or searched', async () => {
    const post = (what: string, body: object) =>
      problemFor(`/v1/files/${what}`, { method: 'POST', ...jsonBody(body) })
    for (const path of ['to-folder/x', '../x', '/etc/x', `${outside}/x`, 'nul\0']) {
      await problemFor(`/v1/files/list?path=${encoded(path)}`)
      await post('mkdir', { path, parents: true })
      await post('move', { from: path, to: 'mine' })
      await post('chmod', { path, mode: 0o777 })
      await post('remove', { path, recursive: true })
      await post('search', { path, name: '*' })
    }
    writeFileSync(`${root}/own.txt`, 'own')
    await post('move', { from: 'own.txt', to: `${outside}/moved.txt` })
    await post('move', { from: 'own.txt', to: 'to-folder/moved.txt' })
    await post('remove', { path: `${outside}/folder`, recursive: true })
    await post('remove', { path: 'to-folder/folder', recursive: true })
    expect(existsSync(`${outside}/folder`)).toBe(true)
    expect(existsSync(`${outside}/moved.txt`)).toBe(false)
  })

  it('is refused as the target of an archive', async () => {
    const tar = await (await daemon.fetch('/v1/files/archive?path=own.txt')).bytes()
    for (const path of ['to-folder', '..', outside]) {
      await problemFor(`/v1/files/archive?path=${encoded(path)}&scheme=tar`, { method: 'PUT', body: tar })
    }
    expect(existsSync(`${outside}/own.txt`)).toBe(false)
  })

  it('is shown as a link', async () => {
    expect(await daemon.call('GET', '/v1/files/stat?path=to-file')).toMatchObject({ kind: 'symlink' })
    await daemon.call('POST', '/v1/files/remove', { path: 'to-file' })
    expect(existsSync(`${outside}/secret.txt`)).toBe(true)
  })

  it('is not the name of a sandbox, a session, a process or a blob', async () => {
    for (const id of ['..', '../../etc', '/etc', 'a/b', '.', 'nul\0', 'x'.repeat(129), '', 'a b', 'ü']) {
      const body = jsonBody({ id, local: { isolation: 'none' } })
      await problemFor('/v1/sandboxes', { method: 'POST', ...body })
    }
    for (const hash of ['sha256:../../x', `sha256:${'0'.repeat(64)}`, 'md5:x', 'sha256:'])
      await problemFor(`/v1/blobs/${encoded(hash)}`)
  })
})
