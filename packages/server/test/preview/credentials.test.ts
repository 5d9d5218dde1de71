import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { searchWithoutTokens, withoutTokens } from '../../src/preview/credentials.ts'
import { readToken, type TestDaemon, token } from '../daemon.ts'
import { dial } from '../raw.ts'
import { addressOf, forms, openScene, type Site, seenBy } from './fixture.ts'

const all = encodeAll(token)

const inBase64 = [token, readToken].flatMap((one) =>
  ['', 'user:', 'ab', 'x:', ':'].flatMap((user) => {
    const encoded = Buffer.from(user + one)
    return [encoded.toString('base64'), encoded.toString('base64url')].map((text) => text.replace(/=*$/, ''))
  }),
)

function encodeAll(text: string): string {
  return Buffer.from(text).toString('hex').replace(/../g, '%$&')
}

describe('a request to a preview', () => {
  let daemon: TestDaemon
  let site: Site
  beforeAll(async () => {
    ;({ daemon, site } = await openScene('none'))
  })
  afterAll(() => daemon?.close())

  /** Sends lines of headers and a query as they are, and returns what the program saw of them. */
  async function sent(form: (typeof forms)[number], lines: readonly string[], search = ''): Promise<string> {
    const { base, host = 'localhost' } = addressOf(site, form)
    const id = Math.random().toString(36).slice(2)
    const head = [`GET ${base}echo-${id}${search} HTTP/1.1`, `host: ${host}`, 'connection: close', ...lines]
    using raw = await dial(daemon.port, `${head.join('\r\n')}\r\n\r\n`)
    await raw.ended
    const { seen } = await seenBy(daemon, site)
    return JSON.stringify(seen.filter(({ line }) => line.includes(id)))
  }

  it.each(
    [token, readToken].flatMap((one) =>
      [
        `authorization: Bearer ${one}`,
        `authorization: Bearer   ${one}`,
        `authorization: Bearer ${one}  `,
        `authorization: bearer\t${one}`,
        `authorization: BEARER \t ${one}`,
        `authorization:Bearer ${one}`,
        `authorization: Bearer "${one}"`,
        `authorization: Bearer=${one}`,
        `authorization: Token ${one}`,
        `authorization: ${one}`,
        `authorization: Bearer other, Bearer ${one}`,
        `authorization: Basic ${Buffer.from(`user:${one}`).toString('base64')}`,
        `authorization: Bearer of-the-site\r\nauthorization: Bearer ${one}`,
        `x-api-key: ${one}`,
        `cookie: session=${one}`,
        `referer: http://localhost/ui/?access_token=${one}`,
        `referer: http://localhost/ui/?access_token=${encodeAll(one)}`,
        `${one}: x`,
        `${one.toUpperCase()}: x`,
        `x-${one}-y: x`,
        `x-auth: Basic ${Buffer.from(`user:${one}`).toString('base64')}`,
        `x-auth: ${Buffer.from(one).toString('base64url')}`,
        `x-auth: user.${Buffer.from(`ab${one}`).toString('base64')}`,
        `x-auth: xy${Buffer.from(one).toString('base64')}`,
        `cookie: a=b; session=${Buffer.from(`x:${one}`).toString('base64')}`,
        `referer: http://localhost/?auth=${encodeURIComponent(Buffer.from(`:${one}`).toString('base64'))}`,
        `sec-websocket-protocol: chat, ${Buffer.from(one).toString('base64url')}`,
        `sec-websocket-protocol: vitrine.token.${one}`,
        `sec-websocket-protocol: Vitrine.Token.${one}, chat`,
      ].map((line) => [line]),
    ),
  )('does not show a token of the daemon to the program: %j', async (line) => {
    for (const form of forms) {
      const seen = await sent(form, line.split('\r\n'))
      expect(seen).toContain('GET /echo-')
      for (const hidden of [token, readToken, all, ...inBase64]) expect(seen).not.toContain(hidden)
    }
  })

  it.each([
    `?access_token=${token}`,
    `?a=1&access_token=${token}&b=2`,
    `?access%5ftoken=${token}`,
    `?access_token=${all}`,
    `?access_token=${encodeURIComponent(all)}`,
    `?access_token=${encodeURIComponent(encodeURIComponent(all))}`,
    `?token=${token}`,
    `?next=%2Fx%3Faccess_token%3D${token}`,
    `?${token}`,
    `?auth=${Buffer.from(`user:${token}`).toString('base64')}`,
    `?a=1&auth=${encodeURIComponent(Buffer.from(`:${token}`).toString('base64'))}&b=2`,
  ])('does not show a token in its query to the program: %s', async (search) => {
    for (const form of forms) {
      const seen = await sent(form, [], search)
      expect(seen).toContain('GET /echo-')
      for (const hidden of [token, all, encodeURIComponent(all), ...inBase64])
        expect(seen).not.toContain(hidden)
      if (search.includes('a=1')) expect(seen).toContain('?a=1&b=2')
    }
  })

  it('shows the program its own credentials unchanged', async () => {
    const lines = [
      'authorization: Digest username="me",  realm="x"',
      'x-api-key: of-the-site',
      'referer: http://localhost/page?access_token=of-the-site',
      'sec-websocket-protocol: chat, vitrine.other',
    ]
    const seen = await sent(
      'host',
      [...lines, 'cookie: a=1; session=of-the-site'],
      '?access_token=of%2Dthe-site&x=+1',
    )
    const [request] = JSON.parse(seen)
    expect(request.line).toMatch(/\?access_token=of%2Dthe-site&x=\+1$/)
    expect(request.headers).toMatchObject({
      authorization: 'Digest username="me",  realm="x"',
      'x-api-key': 'of-the-site',
      referer: 'http://localhost/page?access_token=of-the-site',
      'sec-websocket-protocol': 'chat, vitrine.other',
      cookie: 'a=1; session=of-the-site',
    })
  })
})

describe('what a preview removes', () => {
  const contains = (text: string) => text.includes('secret-token')

  it.each([
    ['cookie', 'a=1; t=secret-token; b=2', 'a=1; b=2'],
    ['cookie', 't=secret-token', undefined],
    ['cookie', 'a=1; t=secret%2Dtoken', 'a=1'],
    ['sec-websocket-protocol', 'chat, vitrine.token.unknown', 'chat'],
    ['sec-websocket-protocol', 'vitrine.token.secret-token', undefined],
    ['authorization', 'Negotiate abc', 'Negotiate abc'],
    ['accept', 'text/html', 'text/html'],
    ['x-list', ['a', 'secret-token'], ['a']],
  ])('of the header %s: %j', (name, value, kept) => {
    expect(withoutTokens(name, value, contains)).toEqual(kept)
  })

  it.each([
    ['', ''],
    ['?a=1', '?a=1'],
    ['?a=secret-token', ''],
    ['?a=1&b=secret-token&&c', '?a=1&&c'],
  ])('of the query %s', (search, kept) => {
    expect(searchWithoutTokens(search, contains)).toBe(kept)
  })
})
