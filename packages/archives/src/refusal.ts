import { VitrineError } from '@vitrine/protocol'

/** The error for a member that must not be unpacked. `rule` says which rule it breaks: `is absolute`. */
export function refusal(name: string, rule: string): VitrineError {
  return new VitrineError('archive_refused', `The member ${quoted(name)} ${rule}.`, {
    details: { member: name.toWellFormed() },
  })
}

export function invalid(reason: string, cause?: unknown): VitrineError {
  return new VitrineError('archive_invalid', `The archive ${reason}.`, { cause })
}

export function quoted(name: string): string {
  const shown = name.length <= 300 ? name : `${name.slice(0, 200)}…${name.slice(-60)}`
  return JSON.stringify(shown.toWellFormed())
}
