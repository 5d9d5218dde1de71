import { once } from 'node:events'
import { type IncomingHttpHeaders, type RequestOptions, request } from 'node:http'
import { createServer } from 'node:net'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { openDaemon, type ResponseJson, type TestDaemon } from '../daemon.ts'

export const isolations = ['none', 'bubblewrap'] as const
export type Isolation = (typeof isolations)[number]

/** How a preview is requested: by its own host name, or by a path of the daemon. */
export const forms = ['host', 'path'] as const
export type Form = (typeof forms)[number]

/** For waiting: a guard against hanging, on a machine that is slow and busy. */
export const patience = { timeout: 30_000 }

const shared = fileURLToPath(new URL('../../../../', import.meta.url))
const siteFile = fileURLToPath(new URL('site.ts', import.meta.url))

export interface Site {
  readonly sandbox: string
  readonly port: number
  readonly process: string
  readonly token: string
  /** `/preview/<token>/` */
  readonly path: string
  readonly url: string
}

/** A daemon with a sandbox in which a site is shown. */
export async function openScene(isolation: Isolation): Promise<{ daemon: TestDaemon; site: Site }> {
  const daemon = await openDaemon()
  try {
    const sandbox = await newSandbox(daemon, isolation)
    return { daemon, site: await newSite(daemon, sandbox) }
  } catch (error) {
    await daemon.close()
    throw error
  }
}

/** With this Node and this folder in it, and nothing else of the machine that it would not have. */
export async function newSandbox(daemon: TestDaemon, isolation: Isolation): Promise<string> {
  const binds = [...new Set([shared, dirname(process.execPath)])].map((source) => ({ source }))
  const local = isolation === 'none' ? { isolation } : { isolation, binds }
  return (await daemon.call('POST', '/v1/sandboxes', { local })).id
}

export async function newSite(daemon: TestDaemon, sandbox: string, name = 'site'): Promise<Site> {
  const port = await freePort()
  const base = `/v1/sandboxes/${sandbox}`
  const spawned = await daemon.call('POST', `${base}/processes`, {
    command: process.execPath,
    args: ['--disable-warning=ExperimentalWarning', siteFile, String(port), name],
  })
  await daemon.call('GET', `${base}/ports/${port}?wait=50000`)
  const preview = await daemon.call('POST', `${base}/ports/${port}/preview`)
  return { sandbox, port, process: spawned.id, ...preview }
}

/** Where a form of a preview leads. */
export function addressOf(site: Site, form: Form): { readonly base: string; readonly host?: string } {
  return form === 'host' ? { base: '/', host: new URL(site.url).host } : { base: site.path }
}

export interface Visited {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly body: string
  readonly json: ResponseJson
}

/** One request as a browser sends it: `path` begins after the slash. */
export async function visit(
  { port }: TestDaemon,
  site: Site,
  form: Form,
  path: string,
  { body, ...options }: RequestOptions & { readonly body?: string } = {},
): Promise<Visited> {
  const { base, host } = addressOf(site, form)
  const headers = { ...(host !== undefined && { host }), ...options.headers }
  const requested = request({ ...options, host: '127.0.0.1', port, path: base + path, headers, agent: false })
  requested.end(body)
  const [response] = await once(requested, 'response')
  let text = ''
  for await (const part of response.setEncoding('utf8')) text += part
  return {
    status: response.statusCode,
    headers: response.headers,
    body: text,
    get json() {
      return JSON.parse(text)
    },
  }
}

export interface Seen {
  /** Every request, and every end of a WebSocket. */
  readonly seen: readonly { readonly line: string; readonly headers: IncomingHttpHeaders }[]
  /** How many responses were not read to their end. */
  readonly gone: number
  /** How many bytes of large responses were sent. */
  readonly given: number
}

/** Everything that the site knows. */
export async function seenBy(daemon: TestDaemon, site: Site): Promise<Seen> {
  return (await visit(daemon, site, 'path', 'seen')).json
}

const given = new Set<number>()

/** A port of this machine that no earlier call returned: the sites of a sandbox with its own network do not take it here. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as { port: number }
  server.close()
  await once(server, 'close')
  if (given.has(port)) return freePort()
  given.add(port)
  return port
}
