import { VitrineError } from '@vitrine/protocol'
import type { Route } from '@vitrine/protocol/http'
import type { Caller } from '../guard/caller.ts'

export function checkAccess({ access }: Pick<Route, 'access'>, caller: Caller): void {
  if (access === 'full' && caller.access !== 'full')
    throw new VitrineError('access_denied', `The token ${caller.name} has read access only.`)
}
