import type { Store } from '@vitrine/journal'
import { VitrineError } from '@vitrine/protocol'
import { checkEnvironment, checkVariableCount } from '../machine/environment.ts'

type Variables = Readonly<Record<string, string>>

/** The owner of a sandbox's secrets: they are forgotten when it is destroyed. */
interface SecretOwner {
  readonly id: string
  readonly store: Store
}

/** Masks the values of secrets that commands get as variables, all or none. Returns a function that unregisters them. */
export function registerSecrets(
  { id, store }: SecretOwner,
  secrets: Variables,
  env: Variables = {},
): () => void {
  checkVariables(secrets, env)
  return store.addSecrets(secrets, { sandbox: id })
}

/** Throws unless these secrets can be variables of a command that has `env` too. */
export function checkVariables(secrets: Variables, env: Variables): void {
  checkVariableCount(secrets, 'secrets')
  checkEnvironment(secrets, 'secrets')
  const twice = Object.keys(secrets).filter((name) => Object.hasOwn(env, name))
  if (twice.length > 0)
    throw new VitrineError(
      'argument_invalid',
      `secrets: expected names that \`env\` does not have, got ${twice.join(', ')} in both; leave ${twice.length === 1 ? 'it' : 'them'} out of \`env\`.`,
      { details: { names: twice } },
    )
}
