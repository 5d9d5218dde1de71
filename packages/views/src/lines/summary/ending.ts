import { type Fields, idIn, numberIn, outcomeIn } from '../../fields.ts'
import { longTextIn } from '../../text/long-text.ts'
import { durationText } from '../duration.ts'
import type { Tone } from './event-summary.ts'

/** The outcome, exit code or signal, duration and error of an event that ends work. */
export function endingText(data: Fields): string {
  const exitCode = numberIn(data, 'exitCode')
  const outcome = outcomeIn(data)
  const durationMs = numberIn(data, 'durationMs')
  const parts = [
    outcome,
    exitCode === undefined || (exitCode === 0 && outcome === 'ok') ? undefined : `exit ${exitCode}`,
    idIn(data, 'signal'),
    durationMs === undefined ? undefined : durationText(durationMs),
    errorText(data),
  ]
  return parts.filter(Boolean).join(' ')
}

export function errorText(data: Fields): string | undefined {
  const parts = [idIn(data, 'errorCode') ?? idIn(data, 'errorType'), longTextIn(data, 'errorMessage')]
  return parts.filter(Boolean).join(': ') || undefined
}

/** A note if the host, and not the agent itself, ended it. */
export function endedByText(data: Fields): string | undefined {
  return data.endedBy === 'host' ? 'by the host' : undefined
}

export function endingTone(data: Fields): Tone {
  switch (outcomeIn(data)) {
    case 'ok':
      return 'good'
    case 'failed':
    case 'timeout':
    case 'interrupted':
      return 'bad'
    case 'cancelled':
      return 'warn'
    case undefined:
      return 'plain'
  }
}
