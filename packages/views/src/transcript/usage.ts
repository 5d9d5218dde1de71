import type { ContextUse, Cost, Usage } from '@vitrine/protocol'
import { countIn, type Fields, fieldsIn, numberIn, omitUndefined } from '../fields.ts'
import { nameIn } from './bounded.ts'
import type { TranscriptStep } from './step.ts'
import type { Transcript, TranscriptUsage } from './transcript.ts'

/** Updates context size and cost as the agent reports them; fields that it omits stay. */
export function updateUsage({ copy }: TranscriptStep, transcript: Transcript, update: Fields): Transcript {
  const next = copy(transcript)
  next.usage = { ...transcript.usage, ...omitUndefined({ context: contextOf(update), cost: costIn(update) }) }
  return next
}

/** The reported token usage of one turn. */
export function usageOf(data: Fields): Usage | undefined {
  const fields = fieldsIn(data, 'usage')
  const usage: Usage = omitUndefined({
    inputTokens: countIn(fields, 'inputTokens'),
    outputTokens: countIn(fields, 'outputTokens'),
    totalTokens: countIn(fields, 'totalTokens'),
    cachedReadTokens: countIn(fields, 'cachedReadTokens'),
    cachedWriteTokens: countIn(fields, 'cachedWriteTokens'),
    thoughtTokens: countIn(fields, 'thoughtTokens'),
  })
  return Object.keys(usage).length === 0 ? undefined : usage
}

/** The usage of the session with that of one more turn. */
export function withTurnUsage(usage: TranscriptUsage, turn: Usage | undefined): TranscriptUsage {
  if (turn === undefined) return usage
  const { tokens = {} } = usage
  return {
    ...usage,
    tokens: omitUndefined({
      inputTokens: sum(tokens.inputTokens, turn.inputTokens),
      outputTokens: sum(tokens.outputTokens, turn.outputTokens),
      totalTokens: sum(tokens.totalTokens, turn.totalTokens),
      cachedReadTokens: sum(tokens.cachedReadTokens, turn.cachedReadTokens),
      cachedWriteTokens: sum(tokens.cachedWriteTokens, turn.cachedWriteTokens),
      thoughtTokens: sum(tokens.thoughtTokens, turn.thoughtTokens),
    }),
  }
}

export function contextOf(fields: Fields): ContextUse | undefined {
  const used = countIn(fields, 'used')
  return used === undefined ? undefined : { used, ...omitUndefined({ size: countIn(fields, 'size') }) }
}

export function costIn(data: Fields): Cost | undefined {
  const cost = fieldsIn(data, 'cost')
  const amount = numberIn(cost, 'amount')
  return amount === undefined
    ? undefined
    : { amount, ...omitUndefined({ currency: nameIn(cost, 'currency') }) }
}

function sum(a: number | undefined, b: number | undefined): number | undefined {
  return a === undefined ? b : a + (b ?? 0)
}
