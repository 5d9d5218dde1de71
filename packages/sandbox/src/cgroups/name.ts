import { createHash } from 'node:crypto'
import { randomHex, VitrineError } from '@vitrine/protocol'

/** Rejects dots: the kernel's files in a group have names such as `memory.max`. */
export function checkName(name: string): void {
  if (/^[A-Za-z0-9][A-Za-z0-9_-]{0,99}$/.test(name)) return
  throw new VitrineError(
    'argument_invalid',
    `name: expected up to 100 letters, digits, "-" or "_", got ${JSON.stringify(name)}.`,
    { details: { argument: 'name' } },
  )
}

/** The name prefix of a sandbox's groups, unique to this sandbox. */
export function groupPrefix(ownerTag: string): string {
  const shown = ownerTag.replace(/[^A-Za-z0-9]/g, '_').slice(0, 40)
  const exact = createHash('sha256').update(ownerTag).digest('hex').slice(0, 16)
  return `sbx-${shown}-${exact}-`
}

/** A new name for each start: the cleanup after a dead host must not remove the group of the next start. */
export function freshGroupName(ownerTag: string): string {
  return `${groupPrefix(ownerTag)}${randomHex(4)}`
}
