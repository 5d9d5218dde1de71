import { createHash, randomBytes } from 'node:crypto'
import { readdirSync, symlinkSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { jsonBody, openDaemon, problemOf, type TestDaemon } from '../daemon.ts'
import { framesOf } from '../frames.ts'

let daemon: TestDaemon
let root: string
beforeAll(async () => {
  daemon = await openDaemon()
  root = (await daemon.call('POST', `/v1/sandboxes/${daemon.sandbox}/attach`)).root
})
afterAll(() => daemon.close())

const at = (path: string) => encodeURIComponent(path)
const read = (path: string, headers: Record<string, string> = {}) =>
  daemon.fetch(`/v1/files/content?path=${at(path)}`, { headers })
const write = (path: string, body: string | Uint8Array | ReadableStream, query = '') =>
  daemon.fetch(`/v1/files/content?path=${at(path)}${query}`, {
    method: 'PUT',
    body,
    duplex: 'half',
  } as RequestInit)
const post = (what: string, body: object) => daemon.call('POST', `/v1/files/${what}`, body)

describe('files', () => {
  it('are streamed in both directions unchanged, at 64 MiB', async () => {
    const piece = randomBytes(1024 * 1024)
    const sent = createHash('sha256')
    let pieces = 0
    const body = new ReadableStream<Uint8Array>({
      pull(controller) {
        if (pieces++ === 64) return controller.close()
        piece.writeUInt32LE(pieces)
        sent.update(piece)
        controller.enqueue(Uint8Array.from(piece))
      },
    })
    const written = await write('large.bin', body)
    expect(await written.json()).toMatchObject({ kind: 'file', size: 64 * 1024 * 1024 })
    const got = createHash('sha256')
    for await (const part of (await read('large.bin')).body!) got.update(part)
    expect(got.digest('hex')).toBe(sent.digest('hex'))
    await post('remove', { path: 'large.bin' })
  })

  it('are not partially written when the client disconnects', async () => {
    await write('whole.txt', 'as it was')
    const gone = new AbortController()
    const body = new ReadableStream<Uint8Array>({
      pull(controller) {
        controller.enqueue(new Uint8Array(1_000))
        gone.abort()
      },
    })
    const init = { method: 'PUT', body, duplex: 'half', signal: gone.signal } as RequestInit
    await expect(daemon.fetch('/v1/files/content?path=whole.txt', init)).rejects.toThrow()
    expect(await (await read('whole.txt')).text()).toBe('as it was')
  })

  it('are read in ranges', async () => {
    await write('digits.txt', '0123456789')
    for (const [range, text, shown] of [
      ['bytes=2-4', '234', '2-4'],
      ['bytes=7-', '789', '7-9'],
      ['bytes=-3', '789', '7-9'],
      ['bytes=0-0', '0', '0-0'],
      ['bytes=5-999', '56789', '5-9'],
      ['bytes=-999', '0123456789', '0-9'],
    ] as const) {
      const response = await read('digits.txt', { range })
      expect(response.status).toBe(206)
      expect(response.headers.get('content-range')).toBe(`bytes ${shown}/10`)
      expect(await response.text()).toBe(text)
    }
    for (const range of ['bytes=10-', 'bytes=5-3', 'bytes=999-1000', 'bytes=-0'])
      expect(await problemOf(await read('digits.txt', { range }))).toMatchObject({
        status: 416,
        code: 'range_invalid',
      })
    for (const range of ['bytes=0-1,3-4', 'lines=1-2', 'bytes=x-y', 'bytes=-', ''])
      expect(await (await read('digits.txt', { range })).text()).toBe('0123456789')
  })

  it('are read whole through a link, whose own size differs', async () => {
    const text = 'a text that is longer than the name of its link'
    await write('target.txt', text)
    symlinkSync('target.txt', `${root}/link.txt`)
    for (const range of ['bytes=20-25', 'bytes=47-', 'bytes=-3']) {
      const response = await read('link.txt', { range })
      expect(response.status).toBe(200)
      expect(response.headers.get('content-range')).toBeNull()
      expect(await response.text()).toBe(text)
    }
  })

  it('are appended to, and created with parents and a mode', async () => {
    await write('deep/er/log.txt', 'one\n', '&parents=true&mode=600')
    await write('deep/er/log.txt', 'two\n', '&append=true')
    expect(await (await read('deep/er/log.txt')).text()).toBe('one\ntwo\n')
    expect(await daemon.call('GET', '/v1/files/stat?path=deep/er/log.txt')).toMatchObject({
      kind: 'file',
      size: 8,
      mode: 0o600,
    })
    expect((await problemOf(await write('no/where.txt', 'x', '&parents=false'))).code).toBe('file_not_found')
    expect(await (await write('some/where.txt', 'x')).json()).toMatchObject({ path: 'some/where.txt' })
    expect((await problemOf(await write('x', 'x', '&mode=999'))).code).toBe('argument_invalid')
    expect(await (await write('empty.txt', '')).json()).toMatchObject({ size: 0 })
  })

  it('are listed, created, moved, changed, searched and removed', async () => {
    await post('mkdir', { path: 'box/inner', parents: true })
    await write('box/b.txt', 'the needle is here')
    await write('box/a.txt', 'nothing')
    const { entries, truncated } = await daemon.call('GET', '/v1/files/list?path=box')
    expect(entries.map((one: { path: string }) => one.path.split('/').at(-1))).toEqual([
      'a.txt',
      'b.txt',
      'inner',
    ])
    expect(truncated).toBe(false)
    expect(await daemon.call('GET', '/v1/files/list?path=box&limit=1')).toMatchObject({ truncated: true })
    const { hits } = await post('search', { path: 'box', content: 'NEEDLE', ignoreCase: true })
    expect(hits).toMatchObject([{ line: 1, text: expect.stringContaining('needle') }])
    await post('chmod', { path: 'box/a.txt', mode: 0o640 })
    expect(await daemon.call('GET', '/v1/files/stat?path=box/a.txt')).toMatchObject({ mode: 0o640 })
    await post('chmod', { path: 'box/a.txt', mode: '600' })
    expect(await daemon.call('GET', '/v1/files/stat?path=box/a.txt')).toMatchObject({ mode: 0o600 })
    const wide = await daemon.fetch('/v1/files/chmod', {
      method: 'POST',
      ...jsonBody({ path: 'box/a.txt', mode: '7777' }),
    })
    expect((await problemOf(wide)).code).toBe('argument_invalid')
    const letters = await daemon.fetch('/v1/files/chmod', {
      method: 'POST',
      ...jsonBody({ path: 'box/a.txt', mode: 'rw-' }),
    })
    expect((await problemOf(letters)).detail).toContain('octal digits, such as 644, got "rw-"')
    await post('move', { from: 'box/a.txt', to: 'far/c.txt', parents: true })
    expect(await daemon.call('GET', '/v1/files/exists?path=far/c.txt')).toEqual({ exists: true })
    expect(await daemon.call('GET', '/v1/files/exists?path=box/a.txt')).toEqual({ exists: false })
    const full = await daemon.fetch('/v1/files/remove', { method: 'POST', ...jsonBody({ path: 'box' }) })
    expect((await problemOf(full)).code).toBe('directory_not_empty')
    await post('remove', { path: 'box', recursive: true })
    await post('remove', { path: 'box', force: true })
    const gone = await daemon.fetch('/v1/files/remove', { method: 'POST', ...jsonBody({ path: 'box' }) })
    expect(await problemOf(gone)).toMatchObject({ status: 404, code: 'file_not_found' })
  })

  it('are watched, except ignored ones', async () => {
    const response = await daemon.fetch('/v1/files/watch?ignore=ignored')
    const frames = framesOf(response)
    expect((await frames.next()).value).toMatchObject({
      event: 'heartbeat',
      data: { cursor: expect.any(String) },
    })
    const seen = (async () => {
      for await (const { event, data } of frames)
        if (event === 'message' && data.data.path.endsWith('seen.txt')) return data
    })()
    await write('ignored/x.txt', 'x', '&parents=true')
    await write('seen.txt', 'x')
    await daemon.call('POST', '/v1/files/flush')
    expect(await seen).toMatchObject({ type: 'file.created' })
  })

  it('may have names that are not UTF-8', async () => {
    const path = '/v1/files/content?path=odd-%ff%fe.txt'
    await daemon.fetch(path, { method: 'PUT', body: 'odd' })
    expect(await (await daemon.fetch(path)).text()).toBe('odd')
    const name = Buffer.from('odd-\xff\xfe.txt', 'latin1')
    expect(readdirSync(Buffer.from(root), { encoding: 'buffer' }).some((one) => one.equals(name))).toBe(true)
    await write('ünï cödé + %20.txt', 'wide')
    expect(await (await read('ünï cödé + %20.txt')).text()).toBe('wide')
  })
})

describe('archives', () => {
  it.each(['tar', 'tar.gz', 'tar.zst'])('are uploaded and downloaded as %s', async (scheme) => {
    await write('packed/inner/x.txt', scheme, '&parents=true')
    const down = await daemon.fetch(`/v1/files/archive?path=packed&scheme=${scheme}`)
    const bytes = await down.bytes()
    await post('mkdir', { path: `up-${scheme}` })
    const up = await daemon.fetch(`/v1/files/archive?path=up-${scheme}&scheme=${scheme}`, {
      method: 'PUT',
      body: bytes,
    })
    expect(up.status, await up.clone().text()).toBe(200)
    const found = await daemon.call('POST', '/v1/exec', {
      command: `find up-${scheme} -name x.txt | xargs cat`,
    })
    expect(found.stdout).toBe(scheme)
    await write(`lying/one.${scheme}`, bytes, '&parents=true')
    const there = await daemon.fetch(`/v1/files/extract?path=lying/one.${scheme}`, { method: 'POST' })
    expect(there.status, await there.clone().text()).toBe(200)
    const given = await daemon.fetch(`/v1/files/extract?path=given/two.${scheme}`, {
      method: 'POST',
      body: bytes,
      headers: { 'content-type': 'application/octet-stream' },
    })
    expect(given.status, await given.clone().text()).toBe(200)
    await post('remove', { path: 'lying', recursive: true })
    await post('remove', { path: 'given', recursive: true })
  })

  it('refuses an archive of an unknown scheme', async () => {
    for (const scheme of ['rar', 'zip', '', '../tar']) {
      const response = await daemon.fetch(`/v1/files/archive?path=packed&scheme=${scheme}`)
      expect(await problemOf(response)).toMatchObject({ status: 422, code: 'invalid_compression_scheme' })
    }
  })

  it('refuses a malformed archive, and writes nothing', async () => {
    await post('mkdir', { path: 'clean' })
    for (const [scheme, body] of [
      ['tar', randomBytes(4_096)],
      ['tar.gz', Buffer.from('1f8b0800', 'hex')],
      ['tar.zst', Buffer.from('28b52ffd', 'hex')],
    ] as const) {
      const response = await daemon.fetch(`/v1/files/archive?path=clean&scheme=${scheme}`, {
        method: 'PUT',
        body,
      })
      expect((await problemOf(response)).status).toBe(422)
    }
    expect(await daemon.call('GET', '/v1/files/list?path=clean')).toMatchObject({ entries: [] })
  })

  it('persist and hydrate the workspace', async () => {
    await write('kept.txt', 'as it was')
    expect(await daemon.call('POST', '/v1/skip-on-persist', { path: 'skipped.txt' })).toMatchObject({
      path: expect.stringContaining('skipped.txt'),
    })
    await write('skipped.txt', 'not this')
    const tar = await (await daemon.fetch('/v1/workspace')).bytes()
    await write('kept.txt', 'changed')
    await write('later.txt', 'new')
    const response = await daemon.fetch('/v1/workspace', { method: 'PUT', body: tar })
    expect(response.status, await response.clone().text()).toBe(200)
    expect(await (await read('kept.txt')).text()).toBe('as it was')
    expect(await daemon.call('GET', '/v1/files/exists?path=later.txt')).toEqual({ exists: false })
    const garbage = await daemon.fetch('/v1/workspace', { method: 'PUT', body: randomBytes(2_000) })
    expect((await problemOf(garbage)).status).toBe(422)
    expect(await (await read('kept.txt')).text()).toBe('as it was')
  })
})
