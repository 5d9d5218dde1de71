import { type JsonObject, type OpenSessionOptions, VitrineError } from '@vitrine/protocol'
import { isSecretName } from '../../credentials/find-secrets.ts'
import { type CredentialSources, type Granted, grantCredentials } from '../../credentials/grant.ts'
import type { AgentEntry } from '../../registry/entry.ts'
import { listIn, textIn } from '../fields.ts'
import { addSecret, type SecretOwner } from './secrets.ts'

/** Resolves the grant of a session; throws when the agent needs credentials and the session says nothing about them. */
export function grantFor(
  entry: AgentEntry,
  request: OpenSessionOptions,
  sources: CredentialSources,
): Granted {
  const { credentials: grant, modelEndpoint } = request
  const { variables, files } = entry.credentials
  const given = variables.some((name) => request.env?.[name] !== undefined)
  const free = entry.source.kind !== 'npm' || variables.length + files.length === 0
  if (grant === undefined && !given && !free && modelEndpoint === undefined)
    throw new VitrineError(
      'credentials_missing',
      `The agent ${entry.name} needs credentials, and none were granted. ${howToLogIn(entry)}`,
      { details: { agent: entry.name, variables: [...variables], files: [...files] } },
    )
  return grantCredentials(entry, grant ?? 'none', sources)
}

export function howToLogIn({ credentials: { variables, files } }: AgentEntry): string {
  const [first] = variables
  const ways = [
    ...(first === undefined
      ? []
      : [`set ${variables.join(' or ')} where the host runs and pass \`credentials: 'env'\``]),
    ...(files.length === 0 ? [] : [`log in there and pass \`credentials: 'host'\``]),
    ...(first === undefined ? [] : [`pass \`credentials: { ${first}: '…' }\``]),
    "pass `credentials: 'none'` when the sandbox's own HOME has a login",
  ]
  const text = ways.join('; ')
  return `${text.slice(0, 1).toUpperCase()}${text.slice(1)}.`
}

/** The credentials of a custom agent. Only explicit values work, because the variables it reads are unknown. */
export function explicitValues(agent: string, grant: OpenSessionOptions['credentials']) {
  if (grant === 'env' || grant === 'host')
    throw new VitrineError(
      'argument_invalid',
      `credentials: the variables that the custom agent ${agent} reads are unknown; pass them by name, \`credentials: { NAME: value }\`.`,
    )
  return typeof grant === 'object' ? grant : {}
}

/** Redacts the granted values from now on; call it before anything else uses them. */
export function addGrantSecrets(
  owner: SecretOwner,
  entry: AgentEntry,
  granted: Granted,
  request: OpenSessionOptions,
): void {
  const { name } = entry
  const variables = new Map(Object.entries(granted.env).map(([variable, value]) => [value, variable]))
  for (const secret of granted.secrets)
    addSecret(owner, `${name} ${variables.get(secret) ?? 'credential'}`, secret)
  addSecret(owner, `${name} model endpoint`, request.modelEndpoint?.key ?? '')
  // A credential variable of the agent is a secret even when it is passed in `env`.
  for (const variable of entry.credentials.variables)
    addSecret(owner, variable, request.env?.[variable] ?? '')
}

/**
 * Redacts header, variable, query and flag values of MCP servers that are named like a secret or look random. Other
 * values are ordinary words; redacting those would make the journal unreadable.
 */
export function addServerSecrets(owner: SecretOwner, servers: readonly JsonObject[]): void {
  for (const server of servers) {
    const pairs = [...listIn(server, 'headers'), ...listIn(server, 'env')].map((pair): [string, string] => [
      textIn(pair, 'name') ?? '',
      textIn(pair, 'value') ?? '',
    ])
    const given = [...pairs, ...queryOf(textIn(server, 'url')), ...flagsOf(listIn(server, 'args'))]
    for (const [name, value] of given) {
      if (!isSecretName(name) && !looksRandom(value)) continue
      addSecret(owner, `mcp ${name}`, value)
      // The token of `Bearer <token>` may also occur alone.
      addSecret(owner, `mcp ${name}`, /^\w+ +(\S+)$/.exec(value)?.[1] ?? '')
    }
  }
}

function queryOf(url: string | undefined): [string, string][] {
  return url !== undefined && URL.canParse(url) ? [...new URL(url).searchParams] : []
}

/** Reads `--name value` and `--name=value`. */
function flagsOf(args: readonly unknown[]): [string, string][] {
  return args.flatMap((arg, index): [string, string][] => {
    const [flag = '', ...rest] = String(arg).split('=')
    if (!flag.startsWith('-')) return []
    return [[flag, rest.length > 0 ? rest.join('=') : String(args[index + 1] ?? '')]]
  })
}

function looksRandom(value: string): boolean {
  return /^[\w.+=~-]{20,}$/.test(value) && /\d/.test(value) && /[A-Za-z]/.test(value)
}
