import { describe, expect, it } from 'vitest'
import { requestTargetIn } from '../src/exchange.ts'
import type { HeaderValues } from '../src/headers.ts'
import { readPlainRequest } from '../src/proxy-request.ts'

const read = (url: string, headers: HeaderValues = {}, httpVersion = '1.1') =>
  readPlainRequest({ url, httpVersion, headersDistinct: { host: ['a.example'], ...headers } })

const reasonOf = (...request: Parameters<typeof read>) => {
  const plain = read(...request)
  return 'reason' in plain ? plain.reason : 'understood'
}

describe('a plain request', () => {
  it('forwards the path to the named host', () => {
    expect(read('http://A.example')).toMatchObject({ target: { host: 'a.example', port: 80 }, path: '/' })
    expect(read('HTTP://a.example/x?y')).toMatchObject({ path: '/x?y' })
    expect(read('http://a.example?y')).toMatchObject({ path: '/?y' })
    const plain = read('http://a.example:8080/', { host: ['A.EXAMPLE.:8080'] })
    expect('headers' in plain && plain.headers.get('host')).toBe('a.example:8080')
    const six = read('http://[0::1]/', { host: ['[::1]'] })
    expect('headers' in six && six.headers.get('host')).toBe('[::1]')
  })

  it('drops hop-by-hop headers and those that Connection names, but not the framing', () => {
    const plain = read('http://a.example/', {
      connection: ['close, X-Hop', 'Content-Length, Host'],
      'proxy-authorization': ['Basic c2VjcmV0'],
      'proxy-connection': ['keep-alive'],
      'keep-alive': ['1'],
      te: ['trailers'],
      trailer: ['x'],
      upgrade: ['h2c'],
      'http2-settings': ['AA'],
      expect: ['100-continue'],
      'x-hop': ['1'],
      'x-kept': ['1', '2'],
      'content-length': ['3'],
    })
    expect('headers' in plain && Object.fromEntries(plain.headers)).toEqual({
      host: 'a.example',
      'x-kept': ['1', '2'],
      'content-length': '3',
    })
  })

  it.each([
    ['/path', {}, /this is a proxy/],
    ['*', {}, /this is a proxy/],
    ['https://a.example/', {}, /use CONNECT/],
    ['ftp://a.example/', {}, /use CONNECT/],
    ['http://a.example/#x', {}, /fragment/],
    ['http://user@a.example/', {}, /user/],
    ['http:///path', {}, /host/],
    ['http://a.example:0/', {}, /port/],
    ['http://a.example/', { host: ['b.example'] }, /Host header names something else/],
    ['http://a.example/', { host: ['a.example:81'] }, /Host header names something else/],
    ['http://a.example/', { host: ['a.example', 'a.example'] }, /more than one Host/],
    ['http://a.example/', { host: [] }, /no Host/],
    ['http://a.example/', { 'content-length': ['1'], 'transfer-encoding': ['chunked'] }, /both/],
    ['http://a.example/', { 'content-length': ['1', '1'] }, /more than one Content-Length/],
    ['http://a.example/', { 'transfer-encoding': ['gzip, chunked'] }, /chunked alone/],
    ['http://a.example/', { 'transfer-encoding': ['chunked', 'chunked'] }, /chunked alone/],
    ['http://a.example/', { 'transfer-encoding': ['xchunked'] }, /chunked alone/],
    ['http://a.example/', { upgrade: ['websocket'] }, /use CONNECT/],
  ] as const)('refuses %s with headers %j', (url, headers, reason) => {
    expect(reasonOf(url, headers)).toMatch(reason)
  })

  it('restricts HTTP/1.0 and refuses unknown versions', () => {
    expect(reasonOf('http://a.example/', { host: [] }, '1.0')).toBe('understood')
    expect(reasonOf('http://a.example/', { 'transfer-encoding': ['chunked'] }, '1.0')).toMatch(
      /chunked alone/,
    )
    expect(reasonOf('http://a.example/', {}, '0.9')).toMatch(/HTTP\/0.9/)
  })
})

describe('the requested target in malformed HTTP', () => {
  it.each([
    ['CONNECT evil\0.a.com:443 HTTP/1.1\r\n\r\n', 12, 'evil\0.a.com:443'],
    ['GET http://a\\@b/secret?key=1 HTTP/1.1\r\n\r\n', 12, 'a\\@b'],
    ['GET http://a/ HTTP/1.1\r\nHost: a\r\n\r\nGET http://b\0/ HTTP/1.1\r\n', 45, 'b\0'],
    ['GET http://a/ HTTP/1.1\r\nAuth: se\rcret\r\n\r\nGET http://b/', 32, 'a'],
    ['\x05\x01\0', 0, ''],
    ['\x16\x03\x01 GET x', 0, ''],
  ])('extracts from %j, parsed to %j, the target', (packet, parsed, asked) => {
    expect(requestTargetIn(Buffer.from(packet, 'latin1'), parsed)).toBe(asked)
  })
})
