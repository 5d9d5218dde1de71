import type { Usage } from '@agentclientprotocol/sdk/unstable'
import type { Turn } from './turn.ts'

const contextSize = 200_000

/** There is no model, so this is pretended: a token is four characters, and a million of them cost three dollars. */
export function pretendUsage(turn: Turn): Usage {
  const inputTokens = turn.session.tokens + Math.ceil(turn.text.length / 4)
  const outputTokens = Math.ceil(turn.spoken / 4)
  return { inputTokens, outputTokens, totalTokens: inputTokens + outputTokens }
}

export async function reportUsage(turn: Turn): Promise<void> {
  const used = Math.min(pretendUsage(turn).totalTokens, contextSize)
  const amount = Math.round(used * 3) / 1_000_000
  await turn.send({
    sessionUpdate: 'usage_update',
    used,
    size: contextSize,
    cost: { amount, currency: 'USD' },
  })
}
