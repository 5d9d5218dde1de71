import { realpathSync } from 'node:fs'
import { resolve } from 'node:path'
import { type Host, local, openHost, parseAgent } from '@vitrine/host'
import { isVitrineError, VitrineError, version } from '@vitrine/protocol'
import { systemErrorCode } from '@vitrine/protocol/primitives'
import { createServer, type Listening, listen, type Server } from '@vitrine/server'
import { type Access, type AccessFlags, accessOf } from './access.ts'
import { type LogLevel, requestLogger } from './access-log.ts'
import { removeDaemonFile, writeDaemonFile } from './daemon-file.ts'
import { callableUrl, checkExposure, floorFor, isolationFor } from './exposure.ts'
import { type JournalingFlags, journalingOf } from './journaling.ts'
import { storedToken } from './token-file.ts'

export interface DaemonOptions extends AccessFlags, JournalingFlags {
  readonly host: string
  /** Tried in order while the previous one is in use. */
  readonly ports: readonly number[]
  readonly data?: string
  readonly root?: string
  readonly isolation: 'auto' | 'bubblewrap' | 'none'
  /** `name=command`. */
  readonly agent?: readonly string[]
  readonly cors?: readonly string[]
  readonly allowHost?: readonly string[]
  readonly allowUnisolated?: boolean
  readonly forgetUnreadableSecrets?: boolean
  readonly logLevel?: LogLevel
}

/** A daemon that accepts requests. */
export interface RunningDaemon {
  readonly url: string
  readonly token?: string
  readonly data: string
  /** How its sandboxes are isolated unless they ask for another way. */
  readonly isolation: DaemonOptions['isolation']
  readonly host: Host
  readonly server: Server
  /** The text with every token of this daemon replaced. */
  withoutTokens(text: string): string
  /** Ends event streams with a reason, then the processes of every sandbox. */
  close(): Promise<void>
}

export async function startDaemon(options: DaemonOptions): Promise<RunningDaemon> {
  const { host: hostname, allowUnisolated = false } = options
  const exposure = { host: hostname, isolation: options.isolation, allowUnisolated }
  checkExposure({ ...exposure, allowAnonymous: options.token === false })
  const isolation = isolationFor(exposure)
  const fromEnvironment = takeTokenFromEnvironment()
  const host = await openHost({
    ...(options.data !== undefined && { data: options.data }),
    agents: (options.agent ?? []).map(parseAgent),
    providers: [local({ isolation })],
    ...(options.forgetUnreadableSecrets && { forgetUnreadableSecrets: true }),
    floor: floorFor(exposure),
    ...journalingOf(options),
  }).catch(explainOwner)
  try {
    const access = accessOf(options, fromEnvironment, () => storedToken(host.data))
    const { server, listening } = await listenOn(host, access, { ...options, isolation })
    return await orClose(listening, () => ({ ...runningDaemon(host, access, server, listening), isolation }))
  } catch (error) {
    await host.close()
    throw error
  }
}

/** Adds a hint to the error of a data directory that another daemon owns. */
function explainOwner(error: unknown): never {
  if (!isVitrineError(error) || error.code !== 'store_owned') throw error
  const hint =
    'If that process is a daemon, "vitrine up" prints its link; pass another --data to run a second one.'
  throw new VitrineError('store_owned', `${error.message} ${hint}`, { cause: error, details: error.details })
}

/** Removes the token from the environment, so that child processes do not inherit it. */
function takeTokenFromEnvironment(): string | undefined {
  const { VITRINE_TOKEN: token } = process.env
  delete process.env.VITRINE_TOKEN
  return token
}

async function listenOn(host: Host, { tokens, allowAnonymous }: Access, options: DaemonOptions) {
  const { host: hostname, ports, root, isolation, cors = [], allowHost = [] } = options
  const withoutTokens = hideTokens(tokens)
  const onRequest = requestLogger(options.logLevel ?? 'error', (line) => console.error(withoutTokens(line)))
  const server = createServer({
    host,
    tokens,
    ...(onRequest && { onRequest }),
    allowAnonymous,
    cors,
    allowHosts: allowHost,
    defaultSandbox: { local: { isolation, ...(root !== undefined && { root: folderOf(root) }) } },
  })
  const [first = 0, ...others] = ports
  let listening = listen(server, { hostname, port: first })
  for (const port of others)
    listening = listening.catch((error: unknown) => {
      if (!isPortInUse(error)) throw error
      return listen(server, { hostname, port })
    })
  return { server, listening: await listening }
}

async function orClose<T>(listening: Listening, create: () => T): Promise<T> {
  try {
    return create()
  } catch (error) {
    await listening.close()
    throw error
  }
}

/** The real path: each root is a sandbox of its own, so one folder must have one name. */
function folderOf(root: string): string {
  try {
    return realpathSync(root)
  } catch (error) {
    throw new VitrineError('argument_invalid', `--root: the directory ${resolve(root)} does not exist.`, {
      cause: error,
    })
  }
}

function isPortInUse(error: unknown): boolean {
  return isVitrineError(error) && systemErrorCode(error.cause) === 'EADDRINUSE'
}

function runningDaemon(
  host: Host,
  access: Access,
  server: Server,
  listening: Listening,
): Omit<RunningDaemon, 'isolation'> {
  const { data } = host
  const address = {
    url: callableUrl(listening.url),
    ...(access.token !== undefined && { token: access.token }),
  }
  writeDaemonFile(data, { ...address, pid: process.pid, startedAt: new Date().toISOString(), version })
  return {
    ...address,
    data,
    host,
    server,
    withoutTokens: hideTokens(access.tokens),
    async close() {
      // Removed first, so that other commands do not find a daemon that is closing.
      removeDaemonFile(data)
      await listening.close()
      await host.close()
    },
  }
}

function hideTokens(tokens: Access['tokens']): (text: string) => string {
  return (text) => tokens.reduce((rest, { token }) => rest.replaceAll(token, '[token]'), text)
}
