import { VitrineError } from '@vitrine/protocol'
import type { SandboxRecord } from '@vitrine/protocol/records'

interface GivenSecrets {
  readonly secrets?: Readonly<Record<string, string>>
}

/** The given values of the secrets that a record names: its commands get them. */
export function namedSecrets(
  { secrets: names }: SandboxRecord,
  { secrets = {} }: GivenSecrets,
): Readonly<Record<string, string>> | undefined {
  return names && Object.fromEntries(names.map((name) => [name, secrets[name] ?? '']))
}

/** Throws if a secret that the record names is not given: its commands would run without it. */
export function assertSecretsGiven(
  { id, secrets: names = [] }: SandboxRecord,
  { secrets = {} }: GivenSecrets,
): void {
  const missing = names.filter((name) => !Object.hasOwn(secrets, name))
  if (missing.length === 0) return
  const list = missing.join(', ')
  throw new VitrineError(
    'secret_missing',
    `The sandbox ${id} was created with secrets, of which its record has only the names. Missing: ${list}. Give them again: \`attach('${id}', { secrets: { ${list} } })\`, or \`POST /v1/sandboxes/${id}/attach\` with \`{"secrets":{…}}\`.`,
    { details: { id, secrets: missing } },
  )
}

/** The given values that are no variables of the sandbox: they are only masked. */
export function otherSecrets(
  { secrets: names = [] }: SandboxRecord,
  { secrets = {} }: GivenSecrets,
): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(secrets).filter(([name]) => !names.includes(name)))
}
