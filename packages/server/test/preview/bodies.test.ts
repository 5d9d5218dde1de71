import { once } from 'node:events'
import { type ClientRequest, type IncomingMessage, request } from 'node:http'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { TestDaemon } from '../daemon.ts'
import { dial, readResponse } from '../raw.ts'
import { addressOf, type Form, forms, isolations, openScene, type Site, seenBy, visit } from './fixture.ts'

const mebibyte = 1024 * 1024
const large = 64 * mebibyte
/** More than any buffers on the way hold, however many there are. */
const endless = 1024 * mebibyte
const held = 128 * mebibyte

describe.each(isolations)('a body that goes through a preview (%s)', (isolation) => {
  let daemon: TestDaemon
  let site: Site
  beforeAll(async () => {
    ;({ daemon, site } = await openScene(isolation))
  })
  afterAll(() => daemon?.close())

  const requested = (form: Form, method: string, path: string, headers = {}): ClientRequest => {
    const { base, host } = addressOf(site, form)
    return request({
      ...{ host: '127.0.0.1', port: daemon.port, method, path: base + path, agent: false },
      headers: { ...(host !== undefined && { host }), ...headers },
    })
  }
  const responded = async (one: ClientRequest): Promise<IncomingMessage> => (await once(one, 'response'))[0]

  describe.each(forms)('by %s', (form) => {
    it('arrives complete from the site', async () => {
      const one = requested(form, 'GET', `large?bytes=${large}`)
      one.end()
      const response = await responded(one)
      expect(response.headers['content-length']).toBe(String(large))
      let bytes = 0
      for await (const part of response) bytes += part.length
      expect(bytes).toBe(large)
    })

    it.each([{}, { 'content-length': large }])('arrives complete at the site, with %j', async (headers) => {
      const one = requested(form, 'PUT', 'count', headers)
      const part = Buffer.alloc(mebibyte)
      const parts = Array.from({ length: large / mebibyte }, () => part)
      const response = responded(one)
      await pipeline(Readable.from(parts, { objectMode: false }), one)
      expect(JSON.parse(await textOf(await response))).toEqual({ bytes: large })
    })

    it('pauses the site while a visitor does not read', async () => {
      const { given: before } = await seenBy(daemon, site)
      const one = requested(form, 'GET', `large?bytes=${endless}`)
      one.end()
      const response = await responded(one)
      const given = await settled(async () => (await seenBy(daemon, site)).given - before)
      expect(given).toBeGreaterThan(0)
      expect(given).toBeLessThan(held)
      response.destroy()
    })

    it('waits at the visitor for a site that does not read', async () => {
      const one = requested(form, 'PUT', 'deaf', { 'content-length': endless })
      one.on('error', () => undefined)
      const part = Buffer.alloc(mebibyte)
      let sent = 0
      const more = () => {
        while (sent < endless) {
          sent += part.length
          if (!one.write(part)) return
        }
      }
      one.on('drain', more)
      more()
      const taken = await settled(async () => (await seenBy(daemon, site)) && sent)
      expect(taken).toBeLessThan(held)
      one.destroy()
    })

    it('is echoed while it is sent, in both directions at once', async () => {
      const one = requested(form, 'POST', 'mirror')
      one.write('first')
      const response = await responded(one)
      const parts = response.setEncoding('utf8')[Symbol.asyncIterator]()
      expect((await parts.next()).value).toBe('first')
      one.write('second')
      expect((await parts.next()).value).toBe('second')
      one.end()
      expect((await parts.next()).done).toBe(true)
    })

    it('the body of a HEAD or of a response without one is empty', async () => {
      const head = await visit(daemon, site, form, `large?bytes=1000`, { method: 'HEAD' })
      expect(head).toMatchObject({ status: 200, body: '' })
      expect(head.headers['content-length']).toBe('1000')
    })

    it('the body of a GET does not become part of the next request', async () => {
      const { base, host = 'localhost' } = addressOf(site, form)
      const smuggled = 'GET /smuggled HTTP/1.1\r\nhost: x\r\n\r\n'
      using raw = await dial(
        daemon.port,
        `GET ${base}before HTTP/1.1\r\nhost: ${host}\r\nconnection: close\r\ncontent-length: ${smuggled.length}\r\n\r\n${smuggled}`,
      )
      const first = readResponse(await raw.ended)
      expect(first.status).toBe(200)
      for (let count = 0; count < 3; count += 1) {
        const { status, json } = await visit(daemon, site, form, `after-${count}`)
        expect({ status, url: json.url }).toEqual({ status: 200, url: `/after-${count}` })
      }
    })
  })
})

/** Waits until a number stays the same over several requests to the site. */
async function settled(read: () => Promise<number>): Promise<number> {
  let last = await read()
  for (let same = 0; same < 40; ) {
    const next = await read()
    same = next === last ? same + 1 : 0
    last = next
  }
  return last
}

async function textOf(response: IncomingMessage): Promise<string> {
  let text = ''
  for await (const part of response.setEncoding('utf8')) text += part
  return text
}
