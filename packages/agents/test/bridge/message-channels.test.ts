import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { messageChannels } from '../../src/bridge/message-channels.ts'

function channelsOf(sessionId: string, messageId: string): readonly string[] {
  const update = { sessionUpdate: 'agent_message_chunk', messageId }
  return messageChannels()({ type: 'agent.message', data: { message: { params: { sessionId, update } } } })
}

describe('the channels of a message', () => {
  it('are short and distinct however long the ids of the agent are', () => {
    const long = 'm'.repeat(1_000_000)
    const [one, two] = [channelsOf(long, `${long}1`), channelsOf(long, `${long}2`)]
    for (const channel of [...one, ...two]) expect(channel.length).toBeLessThan(500)
    expect(one.slice(0, 2)).toEqual(two.slice(0, 2))
    expect(one[2]).not.toBe(two[2])
  })

  it('are those of the event, whatever came before it', () => {
    const update = fc.record(
      {
        sessionUpdate: fc.constantFrom('agent_message_chunk', 'tool_call', 7),
        messageId: fc.constantFrom('a', 'b', null),
        toolCallId: fc.constantFrom('a', 'b'),
      },
      { requiredKeys: [] },
    )
    const message = fc.record({ params: fc.record({ sessionId: fc.constantFrom('s', 't'), update }) })
    const event = fc.oneof(
      fc.record({ type: fc.constant('agent.message'), data: fc.record({ message }) }),
      fc.record({ type: fc.constant('agent.exited'), session: fc.constantFrom('s', 't') }),
    )
    fc.assert(
      fc.property(fc.array(event), (events) => {
        const inARow = messageChannels()
        for (const one of events) expect(inARow(one)).toEqual(messageChannels()(one))
      }),
    )
  })
})
