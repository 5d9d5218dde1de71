import type { ExecResult, JsonObject } from '@vitrine/protocol'

const maxLines = 20
const maxCharacters = 4_000

/** A command that ran and failed. */
export class CommandFailure extends Error {
  readonly result: ExecResult

  /** `explanation` says more than the output does; '' if nothing more is known. */
  constructor(result: ExecResult, explanation = '') {
    super(`${[describeEnd(result), explanation].filter(Boolean).join(' ')}${indented(lastOutput(result))}`)
    this.result = result
  }

  /** The fields for an error's `details`. */
  get facts(): JsonObject {
    const { outcome, exitCode, signal } = this.result
    return { outcome, exitCode, signal, output: lastOutput(this.result) }
  }
}

function describeEnd({ outcome, exitCode, signal, durationMs }: ExecResult): string {
  if (outcome === 'timeout') return `it timed out and was killed after ${Math.round(durationMs)} ms.`
  if (signal !== null) return `it was killed by ${signal}.`
  if (exitCode !== null) return `exit code ${exitCode}.`
  return 'its exit status is unknown.'
}

/** The last lines of stderr, or of stdout if stderr is empty. */
function lastOutput({ stderr, stdout }: ExecResult): string {
  const output = stderr.trim() === '' ? stdout : stderr
  return output.trimEnd().split('\n').slice(-maxLines).join('\n').slice(-maxCharacters).toWellFormed()
}

function indented(text: string): string {
  return text.trim() === '' ? '' : `\n${text.replace(/^/gm, '  ')}`
}
