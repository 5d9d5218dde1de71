import { escapeForTerminal } from '@vitrine/views'

/** Words of others may hold what a terminal obeys; their lines stay lines. */
export function escapeLinesForTerminal(text: string): string {
  return text
    .split('\n')
    .map((line) => escapeForTerminal(line))
    .join('\n')
}
