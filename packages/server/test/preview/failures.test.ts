import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { TestDaemon } from '../daemon.ts'
import { dial, readResponse } from '../raw.ts'
import {
  addressOf,
  forms,
  isolations,
  newSite,
  openScene,
  patience,
  type Site,
  seenBy,
  visit,
} from './fixture.ts'

describe.each(isolations)('a site that fails (%s)', (isolation) => {
  let daemon: TestDaemon
  let site: Site
  beforeAll(async () => {
    ;({ daemon, site } = await openScene(isolation))
  })
  afterAll(() => daemon?.close())

  describe.each(forms)('by %s', (form) => {
    const problemAt = async (one: Site, path: string) => {
      const { status, headers, json } = await visit(daemon, one, form, path)
      expect(headers['content-type']).toBe('application/problem+json')
      expect(json).toMatchObject({ status, hint: expect.any(String) })
      return json
    }

    it('responds with port_unavailable when the site has ended', async () => {
      const one = await newSite(daemon, site.sandbox, 'mortal')
      const base = `/v1/sandboxes/${site.sandbox}`
      expect((await visit(daemon, one, form, '')).status).toBe(200)
      await daemon.call('POST', `${base}/processes/${one.process}/kill`)
      const { port } = one
      expect(await problemAt(one, '')).toMatchObject({
        status: 404,
        code: 'port_unavailable',
        detail: expect.stringContaining(`Nothing listens on port ${port} of the sandbox`),
        hint: 'Start the server that should listen there, and wait for it with `ports.waitFor`.',
      })
      expect((await daemon.fetch('/v1/health')).status).toBe(200)
    })

    it.each(['drop', 'nonsense'])(
      'responds with port_unavailable to a malformed response of the site: %s',
      async (path) => {
        expect(await problemAt(site, path)).toMatchObject({ code: 'port_unavailable' })
      },
    )
  })

  it.each(['text/html', 'application/json', 'application/octet-stream'])(
    'does not forward a response as complete when the site fails half-way through %s',
    async (type) => {
      const path = `${site.path}half?type=${encodeURIComponent(type)}`
      using raw = await dial(daemon.port, `GET ${path} HTTP/1.1\r\nhost: localhost\r\n\r\n`)
      await expect.poll(() => raw.text, patience).toContain('{"half":')
      await visit(daemon, site, 'path', 'cut')
      const text = await raw.ended
      expect(readResponse(text).status).toBe(200)
      expect(text.endsWith('0\r\n\r\n'), text.slice(-200)).toBe(false)
    },
  )

  it.each([204, 205, 304, 404, 418, 500, 599])('passes its own status: %i', async (code) => {
    for (const form of forms)
      expect((await visit(daemon, site, form, `status?code=${code}`)).status).toBe(code)
  })

  it.each([101, 600, 999])(
    'responds with port_unavailable to the status %i, which is no final status',
    async (code) => {
      const { status, headers, json } = await visit(daemon, site, 'path', `status?code=${code}`)
      expect(headers['content-type']).toBe('application/problem+json')
      expect({ status, code: json.code }).toEqual({ status: 404, code: 'port_unavailable' })
      expect((await daemon.fetch('/v1/health')).status).toBe(200)
    },
  )

  it.each(forms)(
    'a site that does not respond blocks no other request, and is disconnected with its visitor: by %s',
    async (form) => {
      const { base, host = 'localhost' } = addressOf(site, form)
      const { gone } = await seenBy(daemon, site)
      const hanging = await Promise.all(
        Array.from({ length: 20 }, () =>
          dial(daemon.port, `GET ${base}hang HTTP/1.1\r\nhost: ${host}\r\n\r\n`),
        ),
      )
      const hangs = async () => (await seenBy(daemon, site)).seen.filter(({ line }) => line === 'GET /hang')
      await expect.poll(async () => (await hangs()).length, patience).toBeGreaterThanOrEqual(20)
      expect((await visit(daemon, site, form, '')).status).toBe(200)
      expect((await daemon.fetch('/v1/health')).status).toBe(200)
      for (const one of hanging) one[Symbol.dispose]()
      await expect.poll(async () => (await seenBy(daemon, site)).gone, patience).toBe(gone + 20)
    },
  )
})

describe('a site that never responds', () => {
  it('does not keep the daemon from closing, and its visitor gets an error', async () => {
    const { daemon, site } = await openScene('none')
    try {
      using waiting = await dial(daemon.port, `GET ${site.path}hang HTTP/1.1\r\nhost: localhost\r\n\r\n`)
      await expect
        .poll(async () => (await seenBy(daemon, site)).seen.map(({ line }) => line), patience)
        .toContain('GET /hang')
      await daemon.listening.close()
      const { status, body } = readResponse(await waiting.ended)
      expect(status).toBeGreaterThanOrEqual(400)
      expect(JSON.parse(body)).toMatchObject({ hint: expect.any(String) })
    } finally {
      await daemon.close()
    }
  })
})
