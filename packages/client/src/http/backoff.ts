import { Backoff } from '@vitrine/protocol/primitives'

/** The delays between connections: from one second up to 30. */
export function connectionBackoff(): Backoff {
  return new Backoff(1_000, 30_000, 0.25)
}
