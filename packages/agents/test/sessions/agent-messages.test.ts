import { promptBlocks } from '@vitrine/protocol/primitives'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { codex } from '../../src/registry/agents/codex.ts'
import { copilot } from '../../src/registry/agents/copilot.ts'
import { ActiveTurn } from '../../src/sessions/active-turn.ts'
import { linesOf } from '../../src/sessions/client-files.ts'
import { findOption, readOptions, shownOptions } from '../../src/sessions/config-options.ts'
import { modelErrorSign } from '../../src/sessions/model-error.ts'
import { fitBlocks, shownBlocks } from '../../src/sessions/prompt-content.ts'

describe('session options', () => {
  const old = {
    modes: { currentModeId: 'ask', availableModes: [{ id: 'ask', name: 'Ask' }, { id: 'auto' }] },
    models: { currentModelId: 'm1', availableModels: [{ modelId: 'm1', name: 'One' }] },
  }

  it('reads options of every generation of the protocol', () => {
    expect(readOptions(old)).toMatchObject([
      {
        id: 'mode',
        via: 'mode',
        current: 'ask',
        choices: [{ value: 'ask' }, { value: 'auto', name: 'auto' }],
      },
      { id: 'model', via: 'model', current: 'm1' },
    ])
    const grouped = {
      configOptions: [
        {
          id: 'm',
          category: 'model',
          type: 'select',
          currentValue: 'a',
          options: [{ name: 'G', options: [{ value: 'a' }, { value: 'b' }] }],
        },
        { id: 'web', type: 'boolean', currentValue: true },
      ],
      ...old,
    }
    expect(readOptions(grouped)).toMatchObject([
      { id: 'm', via: 'config', choices: [{ value: 'a' }, { value: 'b' }] },
      { id: 'web', choices: [{ value: 'true' }, { value: 'false' }], current: true },
      { id: 'mode', via: 'mode' },
    ])
  })

  it('finds an option by category or id and checks its value', () => {
    const options = readOptions(old)
    expect(findOption('x', options, { category: 'mode' }, 'auto').id).toBe('mode')
    expect(() => findOption('x', options, { category: 'mode' }, 'yolo')).toThrow(
      'The agent x has no mode "yolo"; it has ask, auto.',
    )
    expect(() => findOption('x', options, { id: 'weather' }, 'sun')).toThrow(
      'The agent x has no option weather; it has mode, model.',
    )
    expect(() => findOption('x', [], { category: 'model' }, 'm')).toThrow('The agent x has no option model.')
  })

  it('reads options from arbitrary agent messages without throwing', () => {
    fc.assert(
      fc.property(fc.anything(), (answer) => {
        expect(shownOptions(readOptions(answer))).toBeInstanceOf(Array)
        expect(readOptions({ configOptions: [answer], modes: answer, models: answer })).toBeInstanceOf(Array)
      }),
    )
  })
})

describe('active turn', () => {
  const turn = () => {
    let now = 0
    return new ActiveTurn({ now: () => (now += 10), onAnswered: () => undefined })
  }
  const call = (toolCallId: string, status?: string, sessionUpdate = 'tool_call') => ({
    sessionUpdate,
    toolCallId,
    ...(status && { status }),
  })

  it('tracks open tool calls in any order of updates', () => {
    const one = turn()
    one.applyUpdate(call('a', 'pending'))
    one.applyUpdate(call('b', 'in_progress', 'tool_call_update'))
    one.applyUpdate(call('b', 'pending'))
    one.applyUpdate(call('c', 'completed', 'tool_call_update'))
    one.applyUpdate(call('c', 'pending'))
    one.applyUpdate(call('d', undefined, 'tool_call_update'))
    one.applyUpdate(call('a', 'completed', 'tool_call_update'))
    expect(one.openTools).toEqual(['b'])
    expect(one.openSince).toBe(10)
    one.applyUpdate(call('e', 'pending'))
    expect(one.openSince).toBe(10)
    one.applyUpdate(call('b', 'failed', 'tool_call_update'))
    // Processes that an earlier tool call left running are older.
    expect(one.openSince).toBe(30)
    one.applyUpdate(call('e', 'failed', 'tool_call_update'))
    expect(one.openSince).toBeUndefined()
  })

  it('applies arbitrary agent updates without throwing', () => {
    fc.assert(
      fc.property(fc.object(), (update) => {
        const one = turn()
        for (const sessionUpdate of ['agent_message_chunk', 'tool_call', 'tool_call_update', 'plan'])
          one.applyUpdate({ ...(update as object), sessionUpdate })
        expect(one.text.length).toBeLessThan(100_000)
      }),
    )
  })
})

it.each([
  ['API Error: 400 {"type":"error"}', 1, 'message'],
  ['Error: 400 Bad Request', 1, 'message'],
  ['{"type":"error","error":{}}', 1, 'message'],
  ['{"error":{"message":"no"}}', 1, 'message'],
  ['', 0, 'silence'],
  ['', 3, undefined],
  ['All is well.', 1, undefined],
  ['Error handling is done.', 1, undefined],
])('detects the model error in %j', (text, updates, sign) => {
  expect(modelErrorSign({}, { text, updates, stopReason: 'end_turn' })?.sign).toBe(sign)
  expect(modelErrorSign({}, { text, updates, stopReason: 'cancelled' })).toBeUndefined()
})

it.each([
  [codex, 'stream disconnected before completion: error sending request'],
  [codex, 'stream disconnected before completion: stream closed before response.completed'],
  [codex, 'unexpected status 404 Not Found: <html>404</html>, url: http://127.0.0.1:9/v1/responses'],
  [copilot, "Error: Model 'default' not found on provider at http://127.0.0.1:9/v1 (HTTP 404)."],
  [
    copilot,
    'Info: Response was interrupted due to a server error. Retrying...Info: Response was interrupted due to a server ' +
      'error. Retrying...Error: Failed to get response from the AI model; retried 5 times',
  ],
])('finds the message of $name about an endpoint that is no model: %s', ({ quirks }, text) => {
  const turn = { text, updates: 1, stopReason: 'end_turn' }
  expect(modelErrorSign(quirks, turn)).toEqual({ sign: 'message', text })
})

it('returns the requested lines of a file', () => {
  const text = 'a\nb\nc\n'
  expect(linesOf(text)).toBe(text)
  expect(linesOf(text, 2)).toBe('b\nc\n')
  expect(linesOf(text, 1, 2)).toBe('a\nb')
  expect(linesOf(text, 9, 2)).toBe('')
  expect(linesOf(text, 0, 1)).toBe('a')
})

it('describes the content of a prompt without its bytes', () => {
  const data = Buffer.alloc(1_000).toString('base64')
  const blocks = promptBlocks([
    { type: 'text', text: 'hi' },
    { type: 'image', mimeType: 'image/png', data },
  ])
  expect(shownBlocks(blocks)).toEqual([
    { type: 'text', text: 'hi' },
    { type: 'image', mimeType: 'image/png', bytes: 1_000 },
  ])
  expect(() => fitBlocks('x', blocks, {})).toThrow('The agent x does not accept image content in a prompt.')
  expect(fitBlocks('x', blocks, { image: true })).toEqual(blocks)
})
