import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { readPieces } from '../../src/bridge/pieces.ts'
import { errorResponse, idKey, readRpcEnvelope, rpcEnvelopeOf } from '../../src/bridge/rpc-envelope.ts'

describe('readRpcEnvelope', () => {
  it.each([
    [
      'a request',
      '{"jsonrpc":"2.0","id":1,"method":"a/b","params":{}}',
      { kind: 'request', id: 1, method: 'a/b' },
    ],
    ['a request with a text id', '{"id":"x","method":"m"}', { kind: 'request', id: 'x' }],
    ['a request with a null id', '{"id":null,"method":"m"}', { kind: 'request', id: null }],
    ['a notification', '{"method":"m"}', { kind: 'notification', method: 'm' }],
    ['a response', '{"id":1,"result":null}', { kind: 'response', id: 1 }],
    ['an error', '{"id":1,"error":{"code":400}}', { kind: 'response', id: 1 }],
    ['spaces around it', '  {"method":"m"}\r', { kind: 'notification' }],
    ['no JSON', '{"method":', { kind: 'garbage', reason: 'not JSON' }],
    ['a banner', 'Welcome!', { kind: 'garbage', reason: 'not a JSON-RPC message' }],
    ['a list', '[{"method":"m"}]', { kind: 'garbage' }],
    ['a text', '"hello"', { kind: 'garbage' }],
    ['null', 'null', { kind: 'garbage' }],
    ['an object of another kind', '{"level":"info","message":"started"}', { kind: 'garbage' }],
    ['an id that is none', '{"id":{},"method":"m"}', { kind: 'garbage' }],
    ['an answer without a result', '{"id":1}', { kind: 'garbage' }],
  ])('readRpcEnvelope reads %s', (_what, line, expected) => {
    expect(readRpcEnvelope(line)).toMatchObject(expected)
  })

  it('readRpcEnvelope never throws', () => {
    const reads = (line: string) => {
      expect(readRpcEnvelope(line).kind).toBeTypeOf('string')
    }
    fc.assert(fc.property(fc.string(), reads))
    fc.assert(fc.property(fc.json(), reads))
    fc.assert(
      fc.property(fc.anything(), (value) => {
        expect(() => rpcEnvelopeOf(value)).not.toThrow()
      }),
    )
  })
})

it('distinguishes ids of different types', () => {
  expect(new Set([1, '1', null, 'null', 'n1', 's1'].map(idKey)).size).toBe(6)
})

it('builds JSON-RPC error responses', () => {
  expect(errorResponse('a', -32_601, 'no')).toEqual({
    jsonrpc: '2.0',
    id: 'a',
    error: { code: -32_601, message: 'no' },
  })
})

describe('readPieces', () => {
  const line = (text: string) => ({ kind: 'line', text, bytes: Buffer.byteLength(text) }) as const

  it('readPieces joins consecutive lines that are not messages', () => {
    const broken = { kind: 'garbage', bytes: Buffer.from([0xff]), reason: 'not UTF-8' } as const
    const pieces = ['Welcome', 'to it', '{"method":"m"}', 'y', '{"half":', 'y'].map(line)
    const parsed = readPieces([...pieces, broken, line('z')])
    expect(parsed.map((one) => (one.kind === 'garbage' ? one.bytes.toString('latin1') : one.kind))).toEqual([
      'Welcome\nto it',
      'message',
      'y',
      '{"half":',
      'y',
      '\xff',
      'z',
    ])
  })
})
