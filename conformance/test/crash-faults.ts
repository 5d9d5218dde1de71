import { isGap, isVitrineError, type JournalItem } from '@vitrine/protocol'
import { coverageFault, eventsOf } from '../src/events/coverage.ts'
import type { PromptedTurn, SentRecord } from './crash-load.ts'

/** The first item that differs, byte for byte, between the items a reader received and the stored ones. */
export function differenceOf(seen: readonly JournalItem[], stored: readonly JournalItem[]): string[] {
  const length = Math.max(seen.length, stored.length)
  for (let at = 0; at < length; at += 1) {
    const [one, other] = [JSON.stringify(seen[at]), JSON.stringify(stored[at])]
    if (one !== other) return [`item ${at + 1} of ${stored.length}: expected ${other}, got ${one}`]
  }
  return []
}

/** Every journal must be complete, because nothing was trimmed. */
export function holeFaults(items: readonly JournalItem[]): string[] {
  const journals = Map.groupBy(items, ({ journal }) => journal)
  return [...journals].flatMap(([journal, own]) => {
    const fault = own.some(isGap) ? 'there is a gap' : coverageFault(own)
    return fault === undefined ? [] : [`${journal}: ${fault}`]
  })
}

/** An acknowledged record must be stored once; another one once and completely, or not at all. */
export function recordFaults(items: readonly JournalItem[], records: readonly SentRecord[]): string[] {
  const counts = new Map<string, number>()
  for (const item of items) {
    if (item.type !== 'log.message') continue
    const message = String(item.data.message)
    counts.set(message, (counts.get(message) ?? 0) + 1)
  }
  return records.flatMap(({ messages, isAcknowledged }) => {
    const found = messages.map((text) => counts.get(text) ?? 0)
    const isRight =
      found.every((count) => count === 1) || (!isAcknowledged && found.every((count) => count === 0))
    return isRight ? [] : [`${messages[0]}: acknowledged: ${isAcknowledged}, found ${found} times`]
  })
}

/** The outcome that a caller got must match the journal: interrupted if the turn started, else refused. */
export function turnFaults(items: readonly JournalItem[], turns: readonly PromptedTurn[]): string[] {
  const all = eventsOf(items).filter(({ type }) => type === 'turn.started' || type === 'turn.finished')
  return turns.flatMap(({ turn, result, error }) => {
    const edges = all.filter((event) => event.turn === turn)
    const ends = edges.map(({ type, data }) => ('outcome' in data ? `${type} ${data.outcome}` : type)).join()
    const reported = result?.outcome ?? (isVitrineError(error) ? 'refused' : String(error))
    const expected = edges.length > 0 ? 'interrupted' : 'refused'
    const isRight =
      reported === expected && (ends === '' || ends === 'turn.started,turn.finished interrupted')
    return isRight
      ? []
      : [`${turn}: the caller got ${reported} (${error}), the journal has ${ends || 'no events'}`]
  })
}

/** Every counting process must have all of its lines up to the kill. */
export function outputFaults(items: readonly JournalItem[]): string[] {
  const texts = new Map<string, string>()
  for (const item of items) {
    if (item.type === 'process.started' && JSON.stringify(item.data).includes('line $n'))
      texts.set(item.data.process, '')
    if (item.type !== 'process.output' || item.data.stream !== 'stdout') continue
    const before = texts.get(item.data.process)
    if (before !== undefined) texts.set(item.data.process, before + item.data.data)
  }
  if (![...texts.values()].some((text) => text.includes('line 1\n')))
    return ['no counting process has written output']
  return [...texts].flatMap(([process, text]) => {
    const fault = countingFault(text)
    return fault === undefined ? [] : [`${process}: ${fault}`]
  })
}

/** Checks that a text consists of numbered lines from 0 on; the last one may be truncated. */
function countingFault(text: string): string | undefined {
  const lines = text.split('\n')
  for (const [at, line] of lines.entries()) {
    const due = `line ${at}`
    const isLast = at === lines.length - 1
    if (isLast ? !due.startsWith(line) : line !== due) return `expected ${due}, got ${JSON.stringify(line)}`
  }
  return undefined
}
