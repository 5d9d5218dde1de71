import { VitrineError } from '@vitrine/protocol'

/** No dots: the kernel's own files in a group are named `memory.max` and so on. */
export function checkName(name: string): void {
  if (/^[A-Za-z0-9][A-Za-z0-9_-]{0,99}$/.test(name)) return
  throw new VitrineError(
    'argument_invalid',
    `name: expected up to 100 letters, digits, "-" or "_", got ${JSON.stringify(name)}.`,
    { details: { argument: 'name' } },
  )
}
