import { once } from 'node:events'
import { connect } from 'node:net'
import { expect, it } from 'vitest'
import { callText, echo, send, sendRaw, serve } from './fixture.ts'

const ping = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' })

it.each([
  ['another token', 401, { authorization: 'Bearer wrong' }],
  ['no token', 401, { authorization: '' }],
  ['another scheme', 401, { authorization: 'Basic eDp5' }],
  ['another host', 403, { host: 'tools.example' }],
  ['another port', 403, { host: '127.0.0.1:1' }],
  ['no port', 403, { host: '127.0.0.1' }],
  ['an origin', 403, { origin: 'http://127.0.0.1' }],
  ['the origin of a file', 403, { origin: 'null' }],
  ['another type', 415, { 'content-type': 'text/plain' }],
  ['compression', 415, { 'content-encoding': 'gzip' }],
] as const)('rejects a request with %s', async (_what, status, headers) => {
  const to = await serve([echo])
  const heard = await send(to, { body: ping, headers })
  expect(heard.status).toBe(status)
  expect(JSON.parse(heard.text)).toMatchObject({ jsonrpc: '2.0', id: null, error: { code: -32000 } })
  expect(heard.text).not.toContain(to.token)
})

it('accepts both names of the loopback as host', async () => {
  const to = await serve([echo])
  const { port } = new URL(to.url)
  for (const host of [`127.0.0.1:${port}`, `localhost:${port}`, `LocalHost:${port}`])
    expect((await send(to, { body: ping, headers: { host } })).status).toBe(200)
})

it('serves only one path and only POST', async () => {
  const to = await serve([echo])
  expect((await send(to, { body: ping, path: '/' })).status).toBe(404)
  expect((await send(to, { body: ping, path: '/mcp/../x' })).status).toBe(404)
  for (const method of ['GET', 'DELETE', 'PUT', 'OPTIONS'])
    expect(await send(to, { method })).toMatchObject({ status: 405, headers: { allow: 'POST' } })
})

it('rejects a body that is too large, with or without a content-length', async () => {
  const to = await serve([echo], { limits: { bodyBytes: 1_000 } })
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping', params: { x: 'x'.repeat(100_000) } })
  expect((await send(to, { body })).status).toBe(413)
  expect((await send(to, { body, headers: { 'transfer-encoding': 'chunked' } })).status).toBe(413)
  expect(await callText(to, 'echo', { text: 'still here' })).toBe('still here')
})

it('rejects bodies that are too large together', async () => {
  const to = await serve([echo], { limits: { heldBytes: 1_000 } })
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping', params: { x: 'x'.repeat(2_000) } })
  expect((await send(to, { body })).status).toBe(503)
  expect(await callText(to, 'echo', { text: 'all was given back' })).toBe('all was given back')
})

it('sends 100-continue only for an accepted request', async () => {
  const to = await serve([echo])
  const { host } = new URL(to.url)
  const head = (token: string) =>
    `POST /mcp HTTP/1.1\r\nHost: ${host}\r\nAuthorization: Bearer ${token}\r\nConnection: close\r\n` +
    `Content-Type: application/json\r\nContent-Length: ${ping.length}\r\nExpect: 100-continue\r\n\r\n`
  const refused = await sendRaw(to, head('wrong'))
  expect(refused).toMatch(/^HTTP\/1\.1 401 /)
  expect(await sendRaw(to, head(to.token) + ping)).toMatch(/^HTTP\/1\.1 100 Continue[\s\S]*HTTP\/1\.1 200 OK/)
})

it('survives input that is not HTTP', async () => {
  const to = await serve([echo])
  expect(await sendRaw(to, '\u0000\u0001 not at all\r\n\r\n')).toMatch(/^HTTP\/1\.1 400 /)
  expect(await sendRaw(to, 'CONNECT example.com:443 HTTP/1.1\r\nHost: example.com\r\n\r\n')).toBe('')
  expect(await callText(to, 'echo', { text: 'still here' })).toBe('still here')
})

it('closes while connections are idle or have sent half a request', async () => {
  const to = await serve([echo])
  const { host, port } = new URL(to.url)
  const sockets = [0, 1].map(() => connect(Number(port), '127.0.0.1'))
  await Promise.all(sockets.map((socket) => once(socket, 'connect')))
  const ended = sockets.map((socket) => {
    socket.resume()
    return once(socket, 'close')
  })
  sockets[1]?.write(
    `POST /mcp HTTP/1.1\r\nHost: ${host}\r\nAuthorization: Bearer ${to.token}\r\n` +
      'Content-Type: application/json\r\nContent-Length: 100\r\nExpect: 100-continue\r\n\r\n',
  )
  await once(sockets[1]!, 'data')
  await to.close()
  await Promise.all(ended)
})

it('drops connections above the limit', async () => {
  const to = await serve([echo], { limits: { connections: 1 } })
  const { port } = new URL(to.url)
  const first = connect(Number(port), '127.0.0.1')
  await once(first, 'connect')
  await expect(send(to, { body: ping })).rejects.toThrow()
  first.destroy()
})
