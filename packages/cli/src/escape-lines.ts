import { escapeForTerminal } from '@vitrine/views'

/** Escapes control characters in untrusted text and preserves its line breaks. */
export function escapeLinesForTerminal(text: string): string {
  return text
    .split('\n')
    .map((line) => escapeForTerminal(line))
    .join('\n')
}
