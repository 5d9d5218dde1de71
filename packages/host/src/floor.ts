import { VitrineError } from '@vitrine/protocol'
import { shown } from '@vitrine/protocol/primitives'
import type { LocalOptions } from '@vitrine/sandbox'

/** The least that every sandbox of a host must have, whoever creates or attaches it. */
export interface HostFloor {
  /** No sandbox runs without isolation, and `auto` does not fall back to none. */
  readonly isolation?: 'bubblewrap'
}

type Options = Omit<LocalOptions, 'data'>

/** Raises `auto` to the floor, and refuses options that are explicitly below it. */
export function applyFloor({ isolation: floor }: HostFloor, options: Options): Options {
  if (floor === undefined) return options
  const { isolation = 'auto', user } = options
  if (isolation === 'none')
    throw belowFloor('isolation', `expected ${JSON.stringify(floor)}, the least on this host, got "none"`)
  if (user === 'root' || user === '0')
    throw belowFloor('user', `expected a user other than root on this host, got ${shown(user)}`)
  return { ...options, isolation: floor }
}

function belowFloor(field: string, message: string): VitrineError {
  const path = `local.${field}`
  return new VitrineError('below_floor', `${path}: ${message}.`, { details: { path } })
}
