import type { Usage } from '@vitrine/protocol'
import { countIn, type Fields, fieldsIn, numberIn, present } from '../fields.ts'
import { nameIn } from './bounded.ts'
import type { Step } from './step.ts'
import type { Transcript, TranscriptUsage } from './transcript.ts'

/** What the agent says of its context and of the cost so far; what it leaves out stays. */
export function usageUpdated({ copy }: Step, transcript: Transcript, update: Fields): Transcript {
  const next = copy(transcript)
  next.usage = { ...transcript.usage, ...present({ context: contextOf(update), cost: costOf(update) }) }
  return next
}

/** What one turn cost. */
export function usageOf(data: Fields): Usage | undefined {
  const said = fieldsIn(data, 'usage')
  const usage: Usage = present({
    inputTokens: countIn(said, 'inputTokens'),
    outputTokens: countIn(said, 'outputTokens'),
    totalTokens: countIn(said, 'totalTokens'),
    cachedReadTokens: countIn(said, 'cachedReadTokens'),
    cachedWriteTokens: countIn(said, 'cachedWriteTokens'),
    thoughtTokens: countIn(said, 'thoughtTokens'),
  })
  return Object.keys(usage).length === 0 ? undefined : usage
}

/** The usage of the session with that of one more turn. */
export function withTurnUsage(usage: TranscriptUsage, turn: Usage | undefined): TranscriptUsage {
  if (turn === undefined) return usage
  const { tokens = {} } = usage
  return {
    ...usage,
    tokens: present({
      inputTokens: sum(tokens.inputTokens, turn.inputTokens),
      outputTokens: sum(tokens.outputTokens, turn.outputTokens),
      totalTokens: sum(tokens.totalTokens, turn.totalTokens),
      cachedReadTokens: sum(tokens.cachedReadTokens, turn.cachedReadTokens),
      cachedWriteTokens: sum(tokens.cachedWriteTokens, turn.cachedWriteTokens),
      thoughtTokens: sum(tokens.thoughtTokens, turn.thoughtTokens),
    }),
  }
}

function contextOf(update: Fields): TranscriptUsage['context'] {
  const used = countIn(update, 'used')
  return used === undefined ? undefined : { used, ...present({ size: countIn(update, 'size') }) }
}

function costOf(update: Fields): TranscriptUsage['cost'] {
  const cost = fieldsIn(update, 'cost')
  const amount = numberIn(cost, 'amount')
  return amount === undefined ? undefined : { amount, ...present({ currency: nameIn(cost, 'currency') }) }
}

function sum(a: number | undefined, b: number | undefined): number | undefined {
  return a === undefined ? b : a + (b ?? 0)
}
