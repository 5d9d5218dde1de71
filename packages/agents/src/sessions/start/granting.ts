import type { Store } from '@vitrine/journal'
import { type JsonObject, type OpenSessionOptions, VitrineError } from '@vitrine/protocol'
import { type Granted, type GrantPlaces, grantCredentials } from '../../credentials/grant.ts'
import { tellsOfSecret } from '../../credentials/secrets-in.ts'
import type { AgentEntry } from '../../registry/entry.ts'
import { listIn, textIn } from '../fields.ts'
import { keepSecret } from './secrets.ts'

/** Without a word about credentials an agent that needs some is not even started. */
export function grantFor(entry: AgentEntry, wanted: OpenSessionOptions, places: GrantPlaces): Granted {
  const { credentials: grant, modelEndpoint } = wanted
  const { variables, files } = entry.credentials
  const given = variables.some((name) => wanted.env?.[name] !== undefined)
  const free = entry.source.kind !== 'npm' || variables.length + files.length === 0
  if (grant === undefined && !given && !free && modelEndpoint === undefined)
    throw new VitrineError(
      'credentials_missing',
      `The agent ${entry.name} needs credentials, and none were granted. ${howToLogIn(entry)}`,
      { details: { agent: entry.name, variables: [...variables], files: [...files] } },
    )
  return grantCredentials(entry, grant ?? 'none', places)
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

/** The values that an agent of one's own is given; what it reads is known to nobody else. */
export function explicitValues(agent: string, grant: OpenSessionOptions['credentials']) {
  if (grant === 'env' || grant === 'host')
    throw new VitrineError(
      'argument_invalid',
      `credentials: it is not known which variables the agent ${agent} reads; pass them by name, \`credentials: { NAME: value }\`.`,
    )
  return typeof grant === 'object' ? grant : {}
}

/** Masked from now on, before anything else is done with it. */
export function keepGranted(
  store: Store,
  entry: AgentEntry,
  granted: Granted,
  wanted: OpenSessionOptions,
): void {
  const { name } = entry
  const variables = new Map(Object.entries(granted.env).map(([variable, value]) => [value, variable]))
  for (const secret of granted.secrets)
    keepSecret(store, `${name} ${variables.get(secret) ?? 'credential'}`, secret)
  keepSecret(store, `${name} model endpoint`, wanted.modelEndpoint?.key ?? '')
  // What is a credential by name is one however it is passed.
  for (const variable of entry.credentials.variables)
    keepSecret(store, variable, wanted.env?.[variable] ?? '')
}

/**
 * Servers are called with headers and started with variables. What is named like a secret, or looks like one, is
 * masked; the rest are ordinary words, which a journal without them could not be read.
 */
export function keepSecretsOfServers(store: Store, servers: readonly JsonObject[]): void {
  for (const server of servers) {
    const pairs = [...listIn(server, 'headers'), ...listIn(server, 'env')].map((pair): [string, string] => [
      textIn(pair, 'name') ?? '',
      textIn(pair, 'value') ?? '',
    ])
    const given = [...pairs, ...queryOf(textIn(server, 'url')), ...flagsOf(listIn(server, 'args'))]
    for (const [name, value] of given) {
      if (!tellsOfSecret(name) && !looksRandom(value)) continue
      keepSecret(store, `mcp ${name}`, value)
      // The token of `Bearer <token>` may be met alone.
      keepSecret(store, `mcp ${name}`, /^\w+ +(\S+)$/.exec(value)?.[1] ?? '')
    }
  }
}

function queryOf(url: string | undefined): [string, string][] {
  return url !== undefined && URL.canParse(url) ? [...new URL(url).searchParams] : []
}

/** `--name value` and `--name=value`. */
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
