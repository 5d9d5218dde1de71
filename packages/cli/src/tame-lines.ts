import { tame } from '@vitrine/views'

/** Words of others may hold what a terminal obeys; their lines stay lines. */
export function tameLines(text: string): string {
  return text
    .split('\n')
    .map((line) => tame(line))
    .join('\n')
}
