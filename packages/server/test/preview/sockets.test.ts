import type { IncomingMessage } from 'node:http'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type ResponseJson, type TestDaemon, token } from '../daemon.ts'
import { dialSocket, refusalOf } from '../sockets/dialling.ts'
import {
  addressOf,
  type Form,
  forms,
  freePort,
  isolations,
  openScene,
  patience,
  type Site,
  seenBy,
} from './fixture.ts'

describe.each(isolations)('a WebSocket of a preview (%s)', (isolation) => {
  let daemon: TestDaemon
  let site: Site
  beforeAll(async () => {
    ;({ daemon, site } = await openScene(isolation))
  })
  afterAll(() => daemon?.close())

  const dialled = (form: Form, path: string, options: Parameters<typeof dialSocket>[2] = {}) => {
    const { base, host } = addressOf(site, form)
    const headers = { ...(host !== undefined && { host }), ...options.headers }
    return dialSocket(daemon, base + path, { ...options, headers })
  }
  const greeting = async ({ messages }: { messages: ResponseJson[] }) => {
    await expect.poll(() => messages.length, patience).toBeGreaterThan(0)
    return messages[0]
  }

  describe.each(forms)('by %s', (form) => {
    it('carries small and large text and binary messages in both directions', async () => {
      const one = dialled(form, 'live?x=1', { origin: 'null' })
      expect(await greeting(one)).toMatchObject({ name: 'site', url: '/live?x=1' })
      one.sendJson({ hello: 'wörld' })
      await expect.poll(() => one.messages[1], patience).toEqual({ hello: 'wörld' })
      const large = 'y'.repeat(3_000_000)
      one.socket.send(Buffer.from(large))
      await expect.poll(() => one.output.length, patience).toBe(large.length)
      expect(one.output === large).toBe(true)
      one.socket.close()
      await one.closed
    })

    it('is closed by the site with its code and its reason', async () => {
      const one = dialled(form, 'live')
      await greeting(one)
      one.sendJson({ close: 4321, reason: 'had enough' })
      expect(await one.closed).toEqual({ code: 4321, reason: 'had enough' })
    })

    it('is closed by the visitor with its code and its reason', async () => {
      const one = dialled(form, 'live')
      await greeting(one)
      one.socket.close(4555, `bye by ${form}`)
      expect((await one.closed).code).toBe(4555)
      await expect
        .poll(async () => (await seenBy(daemon, site)).seen.map(({ line }) => line), patience)
        .toContain(`closed 4555 bye by ${form}`)
    })

    it('a WebSocket that is cut closes the connection to the site', async () => {
      const one = dialled(form, 'live')
      await greeting(one)
      const before = (await seenBy(daemon, site)).seen.filter(({ line }) => line.startsWith('closed 1006'))
      one.socket.terminate()
      await expect
        .poll(
          async () => (await seenBy(daemon, site)).seen.filter(({ line }) => line.startsWith('closed 1006')),
          patience,
        )
        .toHaveLength(before.length + 1)
    })

    it('does not send a daemon token to the site', async () => {
      for (const options of [{ token }, { protocols: ['vitrine', `vitrine.token.${token}`] }]) {
        const one = dialled(form, 'live', options)
        one.socket.on('error', () => undefined)
        await Promise.race([greeting(one), one.closed])
        one.socket.terminate()
      }
      expect(JSON.stringify(await seenBy(daemon, site))).not.toContain(token)
    })

    it('has the subprotocol that both chose', async () => {
      const one = dialled(form, 'live', { protocols: ['graphql-ws'] })
      await greeting(one)
      expect(one.socket.protocol).toBe('graphql-ws')
      one.socket.terminate()
    })

    it('a WebSocket to a site that has ended is refused with a problem', async () => {
      const one = await openAndKill()
      const { base, host } = addressOf(one, form)
      const refused = await refusalOf(
        dialSocket(daemon, `${base}live`, { ...(host !== undefined && { headers: { host } }) }),
      )
      expect(refused).toMatchObject({ status: 404, problem: { code: 'port_unavailable' } })
    })

    it('a WebSocket that the site drops at once is refused with a problem', async () => {
      const one = dialled(form, 'drop')
      one.socket.on('error', () => undefined)
      const closed = one.closed.then(() => new Promise((resolve) => setImmediate(resolve, 'closed')))
      const refused = await Promise.race([refusalOf(one), closed])
      expect(refused).toMatchObject({ problem: { code: 'port_unavailable', hint: expect.any(String) } })
    })
  })

  it('a WebSocket by path leaves no cookie with the daemon', async () => {
    const responses: Record<string, IncomingMessage> = {}
    for (const form of forms) {
      const one = dialled(form, 'live')
      one.socket.once('upgrade', (response) => {
        responses[form] = response
      })
      await greeting(one)
      one.socket.terminate()
    }
    expect(responses.host?.headers['set-cookie']).toEqual(['from-socket=1; Path=/'])
    expect(responses.path?.headers).toMatchObject({ 'x-own': 'kept' })
    expect(responses.path?.headers).not.toHaveProperty('set-cookie')
  })

  async function openAndKill(): Promise<Site> {
    const port = await freePort()
    const base = `/v1/sandboxes/${site.sandbox}`
    const { id } = await daemon.call('POST', `${base}/processes`, {
      command: process.execPath,
      args: ['-e', `require('net').createServer().listen(${port}, '127.0.0.1')`],
    })
    await daemon.call('GET', `${base}/ports/${port}?wait=50000`)
    const preview = await daemon.call('POST', `${base}/ports/${port}/preview`)
    await daemon.call('POST', `${base}/processes/${id}/kill`)
    return { ...site, ...preview, port, process: id }
  }
})
