import { describe, expect, it } from 'vitest'
import { failedResult, toolResult } from '../../src/tools/result.ts'

const text = (value: string) => ({ type: 'text', text: value })

describe('tool results', () => {
  const image = { type: 'image', data: 'AAAA', mimeType: 'image/png' }
  it.each([
    ['a text', 'hi', { content: [text('hi')] }],
    ['no text', '', { content: [] }],
    ['nothing', undefined, { content: [] }],
    ['null', null, { content: [text('null')] }],
    ['a number', 5, { content: [text('5')] }],
    ['an object', { a: [1] }, { content: [text('{"a":[1]}')] }],
    ['a list', [1, 2], { content: [text('[1,2]')] }],
    ['a date', new Date(0), { content: [text('"1970-01-01T00:00:00.000Z"')] }],
    ['content', { content: [image], isError: true }, { content: [image], isError: true }],
    ['content and more', { content: [], structuredContent: {} }, { content: [], structuredContent: {} }],
    ['its own content', { content: 'hi' }, { content: [text('{"content":"hi"}')] }],
    ['a list called content', { content: ['hi'] }, { content: [text('{"content":["hi"]}')] }],
  ])('converts the return value: %s', (_what, returned, result) => {
    expect(toolResult(returned, 1_000)).toEqual(result)
  })

  it('rejects a return value that JSON cannot represent', () => {
    expect(() => toolResult(1n, 1_000)).toThrow('The tool returned a value that JSON cannot represent')
  })
})

describe('large tool results', () => {
  const note = (whole: number, shown: number) =>
    text(`[Cut by the host: of ${whole} bytes, at most ${shown} are shown.]`)

  it('keeps a result that just fits', () => {
    expect(toolResult('\n'.repeat(10), 10)).toEqual({ content: [text('\n'.repeat(10))] })
  })

  it('cuts a large result and adds a note', () => {
    expect(toolResult('x'.repeat(11), 10)).toEqual({ content: [text('x'.repeat(10)), note(11, 10)] })
  })

  it('cuts a string between characters', () => {
    expect(toolResult('a😀😀', 8)).toEqual({ content: [text('a😀'), note(9, 8)] })
  })

  it('drops the blocks after the cut and all fields except the content', () => {
    const image = { type: 'image', data: 'A'.repeat(500), mimeType: 'image/png' }
    const { content } = toolResult({ content: [text('one'), image, text('two')] }, 100)
    expect(content).toEqual([text('one'), expect.objectContaining({ type: 'text' })])
    const many = { content: [text('one')], structuredContent: { a: 'a'.repeat(500) } }
    expect(Object.keys(toolResult(many, 100))).toEqual(['content'])
  })

  it('keeps isError when it cuts a result', () => {
    expect(failedResult('x'.repeat(11), 10)).toMatchObject({ isError: true })
    expect(toolResult({ content: [text('x'.repeat(11))], isError: true }, 10)).toMatchObject({
      isError: true,
    })
  })
})
