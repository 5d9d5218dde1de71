import { VitrineError } from '@vitrine/protocol'
import { shown } from '@vitrine/protocol/primitives'

type Environment = Readonly<Record<string, string>>

/** The variables of the host that commands inherit, without isolation only. */
const inheritedNames = ['PATH', 'LANG', 'LC_ALL', 'LC_CTYPE', 'TZ', 'TMPDIR'] as const

export const systemPath = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'

export function environmentOfHost(
  host: Readonly<Record<string, string | undefined>>,
): Record<string, string> {
  const environment: Record<string, string> = { PATH: systemPath, LANG: 'C.UTF-8' }
  for (const name of inheritedNames) {
    const value = host[name]
    if (value !== undefined) environment[name] = value
  }
  return environment
}

/** With the arguments of a command, its variables must fit into the event that records it. */
const maxVariables = 4_000

export function checkVariableCount(env: Environment, field = 'env'): void {
  const count = Object.keys(env).length
  if (count > maxVariables)
    throw new VitrineError(
      'environment_invalid',
      `${field}: expected at most ${maxVariables} variables, got ${count}; pass more values through a file or \`stdin\`.`,
    )
}

/** Rejects names and values that the kernel would truncate or read as another variable. */
export function checkEnvironment(env: Environment, field = 'env'): void {
  for (const [name, value] of Object.entries(env)) {
    if (name === '' || /[=\0]/.test(name))
      throw new VitrineError(
        'environment_invalid',
        `${field}: expected a name without "=" and NUL characters, got ${name === '' ? 'an empty one' : `one that begins with ${shown(name.split(/[=\0]/, 1)[0])}`}.`,
      )
    if (typeof value !== 'string')
      throw new VitrineError(
        'environment_invalid',
        `${field}.${name}: expected a string, got ${typeof value}.`,
      )
    if (value.includes('\0'))
      throw new VitrineError(
        'environment_invalid',
        `${field}.${name}: the value must not contain a NUL character.`,
      )
  }
}
