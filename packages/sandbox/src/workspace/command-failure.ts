import type { ExecResult, JsonObject } from '@vitrine/protocol'

const maxLines = 20
const maxCharacters = 4_000

/** A command that ran and did not end well. */
export class CommandFailure extends Error {
  readonly result: ExecResult

  constructor(result: ExecResult) {
    super(`${endOf(result)}${indented(lastWords(result))}`)
    this.result = result
  }

  /** For the details of an error. */
  get facts(): JsonObject {
    const { outcome, exitCode, signal } = this.result
    return { outcome, exitCode, signal, output: lastWords(this.result) }
  }
}

function endOf({ outcome, exitCode, signal, durationMs }: ExecResult): string {
  if (outcome === 'timeout') return `it took too long and was ended after ${Math.round(durationMs)} ms.`
  if (signal !== null) return `it was ended by ${signal}.`
  if (exitCode !== null) return `exit code ${exitCode}.`
  return 'nobody saw how it ended.'
}

/** What it said last on stderr, or where it said nothing there, on stdout. */
function lastWords({ stderr, stdout }: ExecResult): string {
  const said = stderr.trim() === '' ? stdout : stderr
  return said.trimEnd().split('\n').slice(-maxLines).join('\n').slice(-maxCharacters).toWellFormed()
}

function indented(text: string): string {
  return text.trim() === '' ? '' : `\n${text.replace(/^/gm, '  ')}`
}
