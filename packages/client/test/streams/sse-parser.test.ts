import fc from 'fast-check'
import { expect, it } from 'vitest'
import { type Frame, SseParser } from '../../src/streams/sse-parser.ts'

const bytes = (text: string) => new TextEncoder().encode(text)
const parse = (text: string) => new SseParser().push(bytes(text))

it.each<[string, string, Frame[]]>([
  ['a plain frame', 'data: {"a":1}\n\n', [{ data: '{"a":1}' }]],
  ['all fields', 'event: gap\nid: c1\ndata: x\n\n', [{ event: 'gap', id: 'c1', data: 'x' }]],
  ['\\r\\n and \\r', 'data: a\r\n\r\ndata: b\r\r', [{ data: 'a' }, { data: 'b' }]],
  ['several lines of data', 'data: a\ndata:b\ndata:  c\n\n', [{ data: 'a\nb\n c' }]],
  ['comments and empty lines', ': ping\n\n\n\ndata: a\n\n', [{ data: 'a' }]],
  ['a name alone', 'event: end\n\n', [{ event: 'end', data: '' }]],
  ['fields that are unknown', 'retry: 5\ndata: a\n\n', [{ data: 'a' }]],
  ['nothing that is not ended', 'data: a\n\ndata: b\n', [{ data: 'a' }]],
])('parses %s', (_name, text, frames) => {
  expect(parse(text)).toEqual(frames)
})

it('parses the same frames from chunks of any size', () => {
  const line = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 12 }).map((text) => text.replaceAll(/[\r\n\ufeff]/g, '')),
    fc.constantFrom('data: é€😀', 'event: gap', 'id: 1', ':', 'data', ''),
  )
  const text = fc
    .array(fc.tuple(line, fc.constantFrom('\n', '\r\n', '\r')), { maxLength: 12 })
    .map((lines) => lines.map(([one, end]) => one + end).join(''))
  fc.assert(
    fc.property(text, fc.array(fc.nat(400)), (whole, cuts) => {
      const all = bytes(whole)
      const parser = new SseParser()
      const places = [0, ...cuts.map((cut) => Math.min(cut, all.length)).sort((a, b) => a - b), all.length]
      const frames = places.slice(1).flatMap((end, index) => parser.push(all.subarray(places[index], end)))
      expect(frames).toEqual(new SseParser().push(all))
    }),
  )
})
