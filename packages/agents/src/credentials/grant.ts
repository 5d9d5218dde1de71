import { type CredentialGrant, VitrineError } from '@vitrine/protocol'
import type { AgentEntry } from '../registry/entry.ts'
import { findSecrets } from './find-secrets.ts'
import { type ReadLoginFile, readLoginFile } from './login-file.ts'
import { fromHome, type HostEnvironment, isSet } from './present.ts'

/** The credentials that an agent gets. */
export interface Granted {
  readonly env: Readonly<Record<string, string>>
  /** Files to write in the sandbox, with paths relative to HOME. */
  readonly files: readonly GrantedFile[]
  /** Names of the variables and files, for the journal. */
  readonly names: readonly string[]
  /** All secret values. Pass them to the redactor before anything else uses this grant. */
  readonly secrets: readonly string[]
}

export interface GrantedFile {
  readonly path: string
  readonly content: string
  readonly mode: 0o600
}

export interface CredentialSources extends HostEnvironment {
  readonly readFile?: ReadLoginFile
}

const nothing: Granted = { env: {}, files: [], names: [], secrets: [] }

/** The sizes that the redactor accepts. */
const shortestSecret = 4
const largestSecret = 64 * 1024

/**
 * Resolves a grant: `none`, the agent's variables (`env`), also its login files (`host`), or the given values.
 *
 * @example
 * grantCredentials(findAgent('claude'), 'env', { env: process.env, home: homedir() }).names // ['ANTHROPIC_API_KEY']
 */
export function grantCredentials(
  entry: AgentEntry,
  grant: CredentialGrant,
  sources: CredentialSources,
): Granted {
  if (grant === 'none') return nothing
  if (grant === 'env') return requireSufficient(entry, grant, variablesOf(entry, sources))
  if (grant === 'host') {
    const variables = variablesOf(entry, sources)
    const files = filesOf(entry, sources)
    return requireSufficient(entry, grant, {
      sufficient: variables.sufficient || files.sufficient,
      granted: join(variables.granted, files.granted),
    })
  }
  return explicit(entry, grant)
}

interface FoundCredentials {
  /** Whether the found values include a credential that is sufficient by itself. */
  readonly sufficient: boolean
  readonly granted: Granted
}

function requireSufficient(
  entry: AgentEntry,
  grant: 'env' | 'host',
  { sufficient, granted }: FoundCredentials,
): Granted {
  if (sufficient || needsNone(entry)) return granted
  throw missing(entry, grant)
}

function variablesOf({ credentials }: AgentEntry, { env }: CredentialSources): FoundCredentials {
  const set = (names: readonly string[]) =>
    Object.fromEntries(
      names.flatMap((name) => {
        const value = env[name]
        return isSet(value) ? [[name, value] as const] : []
      }),
    )
  const own = set(credentials.variables)
  const alongside = set(credentials.alongside?.variables ?? [])
  const all = { ...own, ...alongside }
  return {
    sufficient: Object.keys(own).length > 0,
    granted: {
      env: all,
      files: [],
      names: Object.keys(all),
      secrets: maskable([...Object.values(own), ...Object.values(alongside).filter(hasLogin)]),
    },
  }
}

function filesOf(
  { credentials }: AgentEntry,
  { home, readFile = readLoginFile }: CredentialSources,
): FoundCredentials {
  const read = (paths: readonly string[]) =>
    paths.flatMap((path): GrantedFile[] => {
      const content = readFile(home, path)
      return content === undefined || content.trim() === '' ? [] : [{ path, content, mode: 0o600 }]
    })
  const own = read(credentials.files)
  const all = [...own, ...read(credentials.alongside?.files ?? [])]
  return {
    sufficient: own.length > 0,
    granted: {
      env: {},
      files: all,
      names: all.map(({ path }) => fromHome(path)),
      secrets: maskable([
        ...own.flatMap(({ content }) => [content, content.trim()]),
        ...all.flatMap(({ content }) => findSecrets(content)),
      ]),
    },
  }
}

function explicit({ name, credentials }: AgentEntry, values: Readonly<Record<string, string>>): Granted {
  const entries = Object.entries(values)
  for (const [variable, value] of entries) {
    if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(variable) || typeof value !== 'string' || !isSet(value))
      throw new VitrineError(
        'environment_invalid',
        `credentials.${variable}: expected a variable name such as ${credentials.variables[0] ?? 'API_KEY'} and a value that is not empty.`,
        { details: { agent: name, variable } },
      )
  }
  const notSecret = new Set(credentials.alongside?.variables)
  const secret = entries.filter(([variable, value]) => !notSecret.has(variable) || hasLogin(value))
  return {
    env: { ...values },
    files: [],
    names: entries.map(([variable]) => variable),
    secrets: maskable(secret.map(([, value]) => value)),
  }
}

function missing({ name, title, credentials }: AgentEntry, grant: 'env' | 'host'): VitrineError {
  const { variables, files } = credentials
  const [first] = variables
  const searched = grant === 'host' ? [...variables, ...files.map(fromHome)] : variables
  const advice =
    first === undefined
      ? `log in with ${title} on this machine and pass \`credentials: 'host'\``
      : `\`export ${first}=…\` where the host runs and pass \`credentials: 'env'\`` +
        (files.length > 0 && grant === 'env'
          ? ", or log in with it there and pass `credentials: 'host'`"
          : ', or pass the value itself')
  return new VitrineError(
    'credentials_missing',
    `The agent ${name} has no credentials on the host: looked for ${searched.join(', ') || 'nothing'}. To provide some, ${advice}.`,
    { details: { agent: name, searched } },
  )
}

/** Whether the agent runs without credentials. */
function needsNone({ source, credentials }: AgentEntry): boolean {
  return source.kind === 'builtin' || credentials.variables.length + credentials.files.length === 0
}

/** Whether the value is a URL with user information. */
function hasLogin(value: string): boolean {
  return /\/\/[^/\s]*@/.test(value)
}

function maskable(values: readonly string[]): string[] {
  return [...new Set(values)].filter((value) => {
    const bytes = Buffer.byteLength(value)
    return value.length >= shortestSecret && bytes <= largestSecret
  })
}

function join(a: Granted, b: Granted): Granted {
  return {
    env: { ...a.env, ...b.env },
    files: [...a.files, ...b.files],
    names: [...a.names, ...b.names],
    secrets: [...new Set([...a.secrets, ...b.secrets])],
  }
}
