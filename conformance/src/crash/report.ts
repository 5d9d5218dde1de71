import { hash } from 'node:crypto'
import type { RememberedHead } from '@vitrine/journal'

/** What a writer tells before it dies: only what it was shown, and only after. */
export interface Report {
  /** Heads of journals at a moment when appends up to there had resolved. */
  readonly acknowledged?: Readonly<Record<string, RememberedHead>>
  /** What its own tail has given it, journal by journal. */
  readonly seen?: Readonly<Record<string, Stretch>>
}

/** Events one after the other, and a digest over them. */
export interface Stretch {
  readonly first: number
  readonly last: number
  readonly digest: string
}

export function encodeReport(report: Report): string {
  return `${JSON.stringify(report)}\n`
}

/** Whole lines only: what death has cut off was not told. */
export function parseReports(text: string): Report[] {
  return text
    .split('\n')
    .slice(0, -1)
    .map((line): Report => JSON.parse(line))
}

/** The stretch with one more event. */
export function longer(stretch: Stretch | undefined, seq: number, json: string): Stretch {
  const digest = hash('sha256', (stretch?.digest ?? '') + json, 'hex')
  return { first: stretch?.first ?? seq, last: seq, digest }
}
