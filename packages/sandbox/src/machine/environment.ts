import { VitrineError } from '@vitrine/protocol'

type Environment = Readonly<Record<string, string>>

/** The variables of the host that commands inherit, without isolation only. */
const passedOn = ['PATH', 'LANG', 'LC_ALL', 'LC_CTYPE', 'TZ', 'TMPDIR'] as const

export const systemPath = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'

export function environmentOfHost(
  host: Readonly<Record<string, string | undefined>>,
): Record<string, string> {
  const kept: Record<string, string> = { PATH: systemPath, LANG: 'C.UTF-8' }
  for (const name of passedOn) {
    const value = host[name]
    if (value !== undefined) kept[name] = value
  }
  return kept
}

/** Rejects names and values that the kernel would truncate or read as another variable. */
export function checkEnvironment(env: Environment): void {
  for (const [name, value] of Object.entries(env)) {
    if (name === '' || /[=\0]/.test(name))
      throw new VitrineError('environment_invalid', `env: "${printable(name)}" is no name for a variable.`)
    if (typeof value !== 'string')
      throw new VitrineError('environment_invalid', `env.${name}: expected a text, got ${typeof value}.`)
    if (value.includes('\0'))
      throw new VitrineError('environment_invalid', `env.${name}: the value holds a NUL character.`)
  }
}

function printable(text: string): string {
  return text.replaceAll('\0', '\\0')
}
