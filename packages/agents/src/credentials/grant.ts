import { type CredentialGrant, VitrineError } from '@vitrine/protocol'
import type { AgentEntry } from '../registry/entry.ts'
import { type ReadLoginFile, readLoginFile } from './login-file.ts'
import { fromHome, type HostPlaces, isSet } from './present.ts'
import { secretsIn } from './secrets-in.ts'

/** What an agent is given. */
export interface Granted {
  readonly env: Readonly<Record<string, string>>
  /** To be written in the sandbox, from HOME. */
  readonly files: readonly GrantedFile[]
  /** What the journal may name. */
  readonly names: readonly string[]
  /** Every value that must not be seen: for the redactor, before anything else is done with this. */
  readonly secrets: readonly string[]
}

export interface GrantedFile {
  readonly path: string
  readonly content: string
  readonly mode: 0o600
}

export interface GrantPlaces extends HostPlaces {
  readonly readFile?: ReadLoginFile
}

const nothing: Granted = { env: {}, files: [], names: [], secrets: [] }

/** As the redactor takes them. */
const shortestSecret = 4
const largestSecret = 64 * 1024

/**
 * What a grant comes to: nothing, the agent's variables, its login files as well, or the given values.
 *
 * @example
 * grantCredentials(findAgent('claude'), 'env', { env: process.env, home: homedir() }).names // ['ANTHROPIC_API_KEY']
 */
export function grantCredentials(entry: AgentEntry, grant: CredentialGrant, places: GrantPlaces): Granted {
  if (grant === 'none') return nothing
  if (grant === 'env') return found(entry, grant, variablesOf(entry, places))
  if (grant === 'host') {
    const variables = variablesOf(entry, places)
    const files = filesOf(entry, places)
    return found(entry, grant, {
      enough: variables.enough || files.enough,
      granted: join(variables.granted, files.granted),
    })
  }
  return given(entry, grant)
}

interface Search {
  /** Whether a way in is among it. */
  readonly enough: boolean
  readonly granted: Granted
}

function found(entry: AgentEntry, grant: 'env' | 'host', { enough, granted }: Search): Granted {
  if (enough || isFree(entry)) return granted
  throw missing(entry, grant)
}

function variablesOf({ credentials }: AgentEntry, { env }: GrantPlaces): Search {
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
    enough: Object.keys(own).length > 0,
    granted: {
      env: all,
      files: [],
      names: Object.keys(all),
      secrets: maskable([...Object.values(own), ...Object.values(alongside).filter(hasLogin)]),
    },
  }
}

function filesOf({ credentials }: AgentEntry, { home, readFile = readLoginFile }: GrantPlaces): Search {
  const read = (paths: readonly string[]) =>
    paths.flatMap((path): GrantedFile[] => {
      const content = readFile(home, path)
      return content === undefined || content.trim() === '' ? [] : [{ path, content, mode: 0o600 }]
    })
  const own = read(credentials.files)
  const all = [...own, ...read(credentials.alongside?.files ?? [])]
  return {
    enough: own.length > 0,
    granted: {
      env: {},
      files: all,
      names: all.map(({ path }) => fromHome(path)),
      secrets: maskable([
        ...own.flatMap(({ content }) => [content, content.trim()]),
        ...all.flatMap(({ content }) => secretsIn(content)),
      ]),
    },
  }
}

function given({ name, credentials }: AgentEntry, values: Readonly<Record<string, string>>): Granted {
  const entries = Object.entries(values)
  for (const [variable, value] of entries) {
    if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(variable) || typeof value !== 'string' || !isSet(value))
      throw new VitrineError(
        'environment_invalid',
        `credentials.${variable}: expected a variable such as ${credentials.variables[0] ?? 'API_KEY'} with a text that is not empty.`,
        { details: { agent: name, variable } },
      )
  }
  const open = new Set(credentials.alongside?.variables)
  const secret = entries.filter(([variable, value]) => !open.has(variable) || hasLogin(value))
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
  const looked = grant === 'host' ? [...variables, ...files.map(fromHome)] : variables
  const advice =
    first === undefined
      ? `log in with ${title} on this machine and pass \`credentials: 'host'\``
      : `\`export ${first}=…\` where the host runs and pass \`credentials: 'env'\`` +
        (files.length > 0 && grant === 'env'
          ? ", or log in with it there and pass `credentials: 'host'`"
          : ', or pass the value itself')
  return new VitrineError(
    'credentials_missing',
    `The agent ${name} was granted its credentials, and there are none: looked for ${looked.join(', ') || 'nothing'}. To give it some, ${advice}.`,
    { details: { agent: name, looked } },
  )
}

/** It needs nothing, so nothing can be missing. */
function isFree({ source, credentials }: AgentEntry): boolean {
  return source.kind === 'builtin' || credentials.variables.length + credentials.files.length === 0
}

/** An address may have a login in it. */
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
