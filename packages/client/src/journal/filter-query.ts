import type { EventFilter } from '@vitrine/protocol'
import type { Query } from '../wire/address.ts'

export function filterQuery({ types, session, run, text }: EventFilter): Query {
  return { types, session, run, text }
}
