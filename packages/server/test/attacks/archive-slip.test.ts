import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type TarMember, tarOf } from '../../../../conformance/src/sandbox/archives/tar-bytes.ts'
import { type ZipMember, zipOf } from '../../../../conformance/src/sandbox/archives/zip-bytes.ts'
import { openDaemon, problemOf, type TestDaemon } from '../daemon.ts'

let daemon: TestDaemon
let outside: string
let root: string
beforeAll(async () => {
  daemon = await openDaemon()
  root = (await daemon.call('POST', `/v1/sandboxes/${daemon.sandbox}/attach`)).root
  outside = `${daemon.data}/outside`
  mkdirSync(outside)
  writeFileSync(`${outside}/secret.txt`, 'not yours')
})
afterAll(() => daemon.close())

const file = (name: string): TarMember & ZipMember => ({ name, content: 'evil' })
const bad = (folder: string): Record<string, readonly TarMember[]> => ({
  'a way upwards': [file('../../outside/new.txt')],
  'an absolute path': [file(`${folder}/new.txt`)],
  'an absolute path by PAX': [{ ...file('f'), pax: { path: `${folder}/new.txt` } }],
  'a member below its own link': [{ name: 'l', type: '2', target: folder }, file('l/new.txt')],
  'a link upwards': [{ name: 'l', type: '2', target: '../../outside' }, file('l/new.txt')],
  'a hard link to a file outside': [{ name: 'h', type: '1', target: `${folder}/secret.txt` }, file('h')],
  'a hard link upwards': [{ name: 'h', type: '1', target: '../../outside/secret.txt' }],
})
const kinds = Object.keys(bad(''))

const sent = (method: string, path: string, body: Buffer) =>
  daemon.fetch(path, {
    ...{ method, body: new Uint8Array(body) },
    headers: { 'content-type': 'application/octet-stream' },
  })
const send = async (method: string, path: string, body: Buffer) => {
  const response = await sent(method, path, body)
  const { code, status } = await problemOf(response)
  expect({ status, code }).toMatchObject({ status: 422, code: 'archive_refused' })
}

function nothingHappened(): void {
  expect(readdirSync(outside)).toEqual(['secret.txt'])
  expect(readFileSync(`${outside}/secret.txt`, 'utf8')).toBe('not yours')
  expect(existsSync(`${root}/first`)).toBe(false)
}

describe('an archive that slips out', () => {
  it.each(kinds)('is refused as a whole on every route: %s', async (kind) => {
    const archive = tarOf(file('first'), ...bad(outside)[kind]!)
    await send('PUT', '/v1/files/archive?path=.&scheme=tar', archive)
    await send('POST', '/v1/files/extract?path=given.tar&scheme=tar', archive)
    await send('PUT', '/v1/workspace', archive)
    nothingHappened()
  })

  it.each([
    ['a way upwards', [file('../../outside/new.txt')]],
    ['an absolute path', [file('/outside/new.txt')]],
    ['a member below its own link', [{ name: 'l', content: '..', mode: 0o120777 }, file('l/new.txt')]],
    ['a backslash', [file('..\\..\\outside\\new.txt')]],
  ] as const)('is refused as a zip too: %s', async (_kind, entries) => {
    await send('POST', '/v1/files/extract?path=given.zip&scheme=zip', zipOf(file('first'), ...entries))
    nothingHappened()
  })

  it('is not written through a link that was in the workspace before', async () => {
    await daemon.call('POST', '/v1/exec', { command: ['ln', '-s', outside, 'door'] })
    const archive = tarOf(file('door/new.txt'))
    for (const [method, path] of [
      ['PUT', '/v1/files/archive?path=.&scheme=tar'],
      ['POST', '/v1/files/extract?path=given.tar&scheme=tar'],
      ['PUT', '/v1/files/archive?path=door&scheme=tar'],
    ] as const) {
      const response = await sent(method, path, archive)
      if (!response.ok) await problemOf(response)
      expect(readdirSync(outside)).toEqual(['secret.txt'])
    }
  })

  it('does not contain the target of a link in the workspace', async () => {
    await daemon.call('POST', '/v1/exec', { command: ['ln', '-sfn', outside, 'peek'] })
    for (const path of ['/v1/files/archive?path=.', '/v1/workspace']) {
      const response = await daemon.fetch(path)
      expect(response.status).toBe(200)
      expect(Buffer.from(await response.arrayBuffer()).includes('not yours')).toBe(false)
    }
    const through = await daemon.fetch('/v1/files/archive?path=peek/secret.txt')
    expect((await problemOf(through)).status).toBeLessThan(500)
  })
})
