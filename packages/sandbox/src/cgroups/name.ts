import { createHash } from 'node:crypto'
import { randomHex, VitrineError } from '@vitrine/protocol'

/** No dots: the kernel's own files in a group are named `memory.max` and so on. */
export function checkName(name: string): void {
  if (/^[A-Za-z0-9][A-Za-z0-9_-]{0,99}$/.test(name)) return
  throw new VitrineError(
    'argument_invalid',
    `name: expected up to 100 letters, digits, "-" or "_", got ${JSON.stringify(name)}.`,
    { details: { argument: 'name' } },
  )
}

/** How the names of all groups of a sandbox begin, and of no other's. */
export function groupPrefix(mark: string): string {
  const shown = mark.replace(/[^A-Za-z0-9]/g, '_').slice(0, 40)
  const exact = createHash('sha256').update(mark).digest('hex').slice(0, 16)
  return `sbx-${shown}-${exact}-`
}

/** Another one for each start: whoever clears up after a dead host must not take away the group of the next. */
export function freshGroupName(mark: string): string {
  return `${groupPrefix(mark)}${randomHex(4)}`
}
