import { describe, expect, it } from 'vitest'
import { messageChannels } from '../../src/bridge/message-channels.ts'

function channelsOf(sessionId: string, messageId: string): readonly string[] {
  const update = { sessionUpdate: 'agent_message_chunk', messageId }
  return messageChannels({ type: 'agent.message', data: { message: { params: { sessionId, update } } } })
}

describe('the channels of a message', () => {
  it('are short and distinct however long the ids of the agent are', () => {
    const long = 'm'.repeat(1_000_000)
    const [one, two] = [channelsOf(long, `${long}1`), channelsOf(long, `${long}2`)]
    for (const channel of [...one, ...two]) expect(channel.length).toBeLessThan(500)
    expect(one.slice(0, 2)).toEqual(two.slice(0, 2))
    expect(one[2]).not.toBe(two[2])
  })
})
