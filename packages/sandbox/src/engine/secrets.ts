import type { Store } from '@vitrine/journal'
import { VitrineError } from '@vitrine/protocol'
import { checkEnvironment } from '../machine/environment.ts'

/** The limits of `Store.addSecret`. */
const shortestSecret = 4
const maxSecretBytes = 64 * 1024

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
  if (value.length < shortestSecret)
    throw new VitrineError(
      'secret_too_short',
      `secrets.${name}: Expected a secret of ${shortestSecret} characters or more, got ${value.length}. A shorter value cannot be masked; give it as \`env\` if it is not secret.`,
    )
  const bytes = Buffer.byteLength(value)
  if (bytes > maxSecretBytes)
    throw new VitrineError(
      'argument_invalid',
      `secrets.${name}: Expected a secret of at most ${maxSecretBytes} bytes, got ${bytes}.`,
    )
}
