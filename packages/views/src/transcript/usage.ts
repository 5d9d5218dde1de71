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
  return turn === undefined ? usage : { ...usage, tokens: sumOfUsage(usage.tokens ?? {}, turn) }
}

/** A count that only one of them has stays as it is. */
export function sumOfUsage(a: Usage, b: Usage): Usage {
  return omitUndefined({
    inputTokens: sum(a.inputTokens, b.inputTokens),
    outputTokens: sum(a.outputTokens, b.outputTokens),
    totalTokens: sum(a.totalTokens, b.totalTokens),
    cachedReadTokens: sum(a.cachedReadTokens, b.cachedReadTokens),
    cachedWriteTokens: sum(a.cachedWriteTokens, b.cachedWriteTokens),
    thoughtTokens: sum(a.thoughtTokens, b.thoughtTokens),
  })
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
