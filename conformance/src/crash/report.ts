import { hash } from 'node:crypto'
import type { RememberedHead } from '@vitrine/journal'

/** A writer's report about data that it has already observed as committed. */
export interface Report {
  /** Heads of journals up to which appends have resolved. */
  readonly acknowledged?: Readonly<Record<string, RememberedHead>>
  /** The events that its own tail has yielded, by journal. */
  readonly seen?: Readonly<Record<string, EventRange>>
}

/** A range of consecutive events and a digest over them. */
export interface EventRange {
  readonly first: number
  readonly last: number
  readonly digest: string
}

export function encodeReport(report: Report): string {
  return `${JSON.stringify(report)}\n`
}

/** Parses complete lines only: the kill may have cut off the last one. */
export function parseReports(text: string): Report[] {
  return text
    .split('\n')
    .slice(0, -1)
    .map((line): Report => JSON.parse(line))
}

/** The range extended by one event. */
export function extendRange(range: EventRange | undefined, seq: number, json: string): EventRange {
  const digest = hash('sha256', (range?.digest ?? '') + json, 'hex')
  return { first: range?.first ?? seq, last: seq, digest }
}
