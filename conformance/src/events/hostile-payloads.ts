import type { JsonObject } from '@vitrine/protocol'

/** Payloads that stores, transports and parsers often corrupt. All of them are JSON, so they must be read back unchanged. */
export const hostilePayloads: readonly (readonly [name: string, payload: JsonObject])[] = [
  ['NUL in the middle of a text', { text: 'a\0b\0' }],
  ['a lone high surrogate', { text: 'x\ud800y' }],
  ['a lone low surrogate', { text: '\udc00' }],
  ['emoji outside the basic plane', { text: '👩‍👩‍👧‍👦 🏴󠁧󠁢󠁥󠁮󠁧󠁿' }],
  ['line and paragraph separators', { text: 'a\u2028b\u2029c\r\nd\ne' }],
  [
    'control characters',
    { text: Array.from({ length: 32 }, (_, code) => String.fromCharCode(code)).join('') },
  ],
  ['quotes, backslashes and text that looks like JSON', { text: '"\\"},{"seq":999,"x":"\\u0000' }],
  ['a key that is __proto__', JSON.parse('{"__proto__":{"polluted":true},"inner":{"__proto__":[1]}}')],
  ['keys of the prototype chain', { constructor: 'a', toString: 'b', hasOwnProperty: 'c', valueOf: 'd' }],
  ['keys that look like numbers', { b: 1, 10: 2, 2: 3, '': 4, ' ': 5 }],
  ['60 KiB of one letter', { text: 'z'.repeat(60 * 1024) }],
  ['60 KiB of two-byte letters', { text: 'é'.repeat(30 * 1024) }],
  [
    'numbers at the edges',
    { max: Number.MAX_SAFE_INTEGER, tiny: 5e-324, huge: 1.7976931348623157e308, minus: -1.5 },
  ],
  ['deep nesting', nested(60)],
  ['empty values', { object: {}, array: [], text: '', nothing: null, off: false, zero: 0 }],
  [
    'text that looks like a cursor, an event and a gap',
    { type: 'journal.gap', data: { from: 1, to: 9 }, seq: 1 },
  ],
  ['text that looks like server-sent events', { text: 'data: x\n\nid: 7\nevent: gap\n\n: ping\n' }],
]

function nested(depth: number): JsonObject {
  let value: JsonObject = { bottom: true }
  for (let level = 0; level < depth; level += 1) value = { level, value }
  return value
}
