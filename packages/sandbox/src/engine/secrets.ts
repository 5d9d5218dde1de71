import { type Store, secretLength } from '@vitrine/journal'
import { isVitrineError, VitrineError } from '@vitrine/protocol'
import { checkEnvironment } from '../machine/environment.ts'

type Variables = Readonly<Record<string, string>>

/** The owner of a sandbox's secrets: they are forgotten when it is destroyed. */
interface SecretOwner {
  readonly id: string
  readonly store: Store
}

/** Masks the values of secrets that commands get as variables. All are checked before one is registered. */
export function registerSecrets({ id, store }: SecretOwner, secrets: Variables, env: Variables = {}): void {
  checkEnvironment(secrets, 'secrets')
  const twice = Object.keys(secrets).filter((name) => Object.hasOwn(env, name))
  if (twice.length > 0)
    throw new VitrineError(
      'argument_invalid',
      `secrets: expected names that \`env\` does not have, got ${twice.join(', ')} in both; leave ${twice.length === 1 ? 'it' : 'them'} out of \`env\`.`,
      { details: { names: twice } },
    )
  for (const [name, value] of Object.entries(secrets)) checkLength(name, value)
  for (const [name, value] of Object.entries(secrets)) store.addSecret(name, value, { sandbox: id })
}

function checkLength(name: string, value: string): void {
  try {
    secretLength(value)
  } catch (error) {
    if (!isVitrineError(error)) throw error
    const hint =
      error.code === 'secret_too_short'
        ? ' A shorter value cannot be masked; give it as `env` if it is not secret.'
        : ''
    throw new VitrineError(error.code, `secrets.${name}: ${error.message}${hint}`, { cause: error })
  }
}
