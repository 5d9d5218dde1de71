import { realpathSync } from 'node:fs'
import { resolve } from 'node:path'
import { type Host, local, openHost, parseAgent } from '@vitrine/host'
import { isVitrineError, VitrineError, version } from '@vitrine/protocol'
import { createServer, type Listening, listen, type Server } from '@vitrine/server'
import { type Access, type AccessFlags, accessOf } from './access.ts'
import { removeNote, writeNote } from './daemon-file.ts'
import { addressFor, checkExposure, isolationFor } from './exposure.ts'
import { keptToken } from './token-file.ts'

export interface DaemonOptions extends AccessFlags {
  readonly host: string
  /** Those after the first are tried where one is taken. */
  readonly ports: readonly number[]
  readonly data?: string
  readonly root?: string
  readonly isolation: 'auto' | 'bubblewrap' | 'none'
  /** `name=command`. */
  readonly agent?: readonly string[]
  readonly cors?: readonly string[]
  readonly allowHost?: readonly string[]
  readonly allowUnisolated?: boolean
}

/** A daemon that listens. */
export interface RunningDaemon {
  readonly url: string
  readonly token?: string
  readonly data: string
  readonly host: Host
  readonly server: Server
  /** The text without any token of this daemon. */
  withoutTokens(text: string): string
  /** Streams end with a reason, then every sandbox's processes end. */
  close(): Promise<void>
}

export async function startDaemon(options: DaemonOptions): Promise<RunningDaemon> {
  const { host: hostname, allowUnisolated = false } = options
  const asked = { host: hostname, isolation: options.isolation, allowUnisolated }
  checkExposure({ ...asked, allowAnonymous: options.token === false })
  const isolation = isolationFor(asked)
  const said = takeFromEnvironment()
  const host = await openHost({
    ...(options.data !== undefined && { data: options.data }),
    agents: (options.agent ?? []).map(parseAgent),
    providers: [local({ isolation })],
  }).catch(explainOwner)
  try {
    const access = accessOf(options, said, () => keptToken(host.data))
    const { server, listening } = await listenOn(host, access, { ...options, isolation })
    return await orClose(listening, () => running(host, access, server, listening))
  } catch (error) {
    await host.close()
    throw error
  }
}

/** A data directory has one daemon; most likely that one is what is wanted. */
function explainOwner(error: unknown): never {
  if (!isVitrineError(error) || error.code !== 'store_owned') throw error
  const hint = 'If that is a daemon, "vitrine up" prints its link; with another --data there can be another.'
  throw new VitrineError('store_owned', `${error.message} ${hint}`, { cause: error, details: error.details })
}

/** Whatever is started from here on need not know it. */
function takeFromEnvironment(): string | undefined {
  const { VITRINE_TOKEN: said } = process.env
  delete process.env.VITRINE_TOKEN
  return said
}

async function listenOn(host: Host, { tokens, allowAnonymous: anyone }: Access, options: DaemonOptions) {
  const { host: hostname, ports, root, isolation, cors = [], allowHost = [] } = options
  const server = createServer({
    host,
    tokens,
    allowAnonymous: anyone,
    cors,
    allowHosts: allowHost,
    defaultSandbox: { local: { isolation, ...(root !== undefined && { root: folderOf(root) }) } },
  })
  const [first = 0, ...others] = ports
  let listening = listen(server, { hostname, port: first })
  for (const port of others)
    listening = listening.catch((error: unknown) => {
      if (!isTaken(error)) throw error
      return listen(server, { hostname, port })
    })
  return { server, listening: await listening }
}

async function orClose<T>(listening: Listening, begin: () => T): Promise<T> {
  try {
    return begin()
  } catch (error) {
    await listening.close()
    throw error
  }
}

/** By one name only: another root is another sandbox. */
function folderOf(root: string): string {
  try {
    return realpathSync(root)
  } catch (error) {
    throw new VitrineError('argument_invalid', `--root: there is no folder ${resolve(root)}.`, {
      cause: error,
    })
  }
}

function isTaken(error: unknown): boolean {
  return isVitrineError(error) && (error.cause as NodeJS.ErrnoException | undefined)?.code === 'EADDRINUSE'
}

function running(host: Host, access: Access, server: Server, listening: Listening): RunningDaemon {
  const { data } = host
  const reached = {
    url: addressFor(listening.url),
    ...(access.token !== undefined && { token: access.token }),
  }
  writeNote(data, { ...reached, pid: process.pid, startedAt: new Date().toISOString(), version })
  return {
    ...reached,
    data,
    host,
    server,
    withoutTokens: (text) =>
      access.tokens.reduce((rest, { token }) => rest.replaceAll(token, '[token]'), text),
    async close() {
      // Nobody is sent to a daemon that is going down.
      removeNote(data)
      await listening.close()
      await host.close()
    },
  }
}
