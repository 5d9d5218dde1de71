import type { Usage } from '@agentclientprotocol/sdk/unstable'
import type { Turn } from './turn.ts'

const contextSize = 200_000

/** Simulates usage, because there is no model: four characters are a token, and a million tokens cost three dollars. */
export function simulatedUsage(turn: Turn): Usage {
  const inputTokens = turn.session.tokens + Math.ceil(turn.text.length / 4)
  const outputTokens = Math.ceil(turn.outputChars / 4)
  return { inputTokens, outputTokens, totalTokens: inputTokens + outputTokens }
}

export async function reportUsage(turn: Turn): Promise<void> {
  const used = Math.min(simulatedUsage(turn).totalTokens, contextSize)
  const amount = Math.round(used * 3) / 1_000_000
  await turn.send({
    sessionUpdate: 'usage_update',
    used,
    size: contextSize,
    cost: { amount, currency: 'USD' },
  })
}
