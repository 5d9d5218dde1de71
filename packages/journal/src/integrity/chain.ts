import { hash } from 'node:crypto'

/** The hash that the first event of a journal is chained to. */
export function genesis(journal: string): string {
  return hash('sha256', `vitrine journal ${journal}`, 'hex')
}

/** The hash of an event: over the previous hash and its bytes. */
export function chain(previous: string, body: string): string {
  return hash('sha256', previous + body, 'hex')
}
