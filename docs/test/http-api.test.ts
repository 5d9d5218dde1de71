import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { type AddressInfo, createServer as createTcpServer } from 'node:net'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { type Host, openHost } from '@vitrine/host'
import { jsonlSink } from '@vitrine/journal'
import { isSocketRoute, pathsOf, type Route, routes } from '@vitrine/protocol/http'
import { settledWithin } from '@vitrine/protocol/primitives'
import { createServer, type Listening, listen } from '@vitrine/server'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { markerName } from '../../packages/agents/src/install/installation.ts'
import { claude } from '../../packages/agents/src/registry/agents/claude.ts'
import type { AgentEntry } from '../../packages/agents/src/registry/entry.ts'
import { textRoutes } from '../../packages/server/src/openapi/text-routes.ts'
import { dataFolder } from '../../packages/server/test/daemon.ts'
import { type Commands, type HttpPage, httpPages, type ShownCall } from './http-pages.ts'
import { differences, parsePattern, textPattern } from './response-pattern.ts'

const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))))
const pages = httpPages(root)
const [guide, ...references] = pages

interface Request {
  readonly method: string
  readonly path: string
  readonly status: number
}

const token = 'full-token-8d1f0c6b72a94e53'
const readToken = 'read-token-5a2e9b7c41d80f36'
const tokens = [
  { name: 'owner', token, access: 'full' },
  { name: 'viewer', token: readToken, access: 'read' },
] as const

let data: string
let host: Host
/** A port that is free, for a server in the sandbox. */
let port: number
beforeAll(async () => {
  data = dataFolder()
  markInstalled(claude, data)
  port = await freePort()
  host = await openHost({
    data,
    sinks: [{ name: 'audit-log', sink: jsonlSink({ path: join(data, 'audit.jsonl') }) }],
  })
})
afterAll(async () => {
  await host?.close()
  rmSync(data, { recursive: true, force: true })
})

/** The address of the daemon for the page that is tested: each page has a default sandbox and a folder of its own. */
let url: string
let folder: string
/** The requests that the daemon has responded to. */
const served: Request[] = []

async function freePort(): Promise<number> {
  const server = createTcpServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}

/** An installation needs the network. */
function markInstalled({ name, source }: AgentEntry, data: string): void {
  if (source.kind !== 'npm') throw new Error(`${name} is not installed from npm.`)
  const { packages } = source
  const { version } = packages[0]!
  const path = join(data, 'agents', name, version)
  mkdirSync(path, { recursive: true })
  const marker = { name, version, packages, installedAt: new Date().toISOString() }
  writeFileSync(join(path, markerName), JSON.stringify(marker))
}

async function run(program: string, args: readonly string[]) {
  // The system's Python first: a version manager's takes longer to start than most calls.
  const PATH = `/usr/bin:${process.env.PATH}`
  const env = { PATH, VITRINE_URL: url, TOKEN: token, READ_TOKEN: readToken, PORT: `${port}` }
  const child = spawn(program, args, { cwd: folder, env, stdio: ['ignore', 'pipe', 'pipe'], timeout: 50_000 })
  const closed = once(child, 'close')
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)])
  const [status] = await closed
  return { status, stdout, stderr }
}

function runProgram(language: string, code: string) {
  if (language === 'python') return run('python3', ['-c', code])
  return run(process.execPath, ['--input-type=module', '-e', code])
}

interface Ran {
  readonly stdout: string
  readonly stderr: string
  readonly exitCode: number
  /** Without that of a stream that was ended. */
  readonly requests: readonly Request[]
  readonly isEndedStream: boolean
}

/** Reports each request with the status of its response, and the process of a stream, so that it can be ended. */
const curl = `curl() {
  set -- --silent --show-error --write-out '%{stderr}request %{method} %{url} %{http_code}\\n' "$@"
  if [[ " $* " != *" --max-time "* ]]; then command curl "$@"; return; fi
  command curl "$@" & echo $! >$BLOCK.pid; wait $!
}`

/** Runs the commands of a page in one shell. */
async function runCommands(commands: readonly Commands[]): Promise<Ran[]> {
  const blocks = commands.map(
    ({ code }, index) =>
      `BLOCK=${index}\n{\n${code}\n} >${index}.stdout 2>${index}.stderr\necho $? >${index}.status`,
  )
  const done = run('bash', ['-c', [curl, ...blocks].join('\n')])
  const ended = await endStreams(commands, done)
  expect(await done).toMatchObject({ status: 0, stderr: '' })
  return commands.map((_, index) => {
    const stderr = read(`${index}.stderr`)
    const requests = [...stderr.matchAll(/^request (\S+) (\S+) (\d+)$/gm)].map(([, method, url, status]) => ({
      method: method!,
      path: new URL(url!).pathname,
      status: Number(status),
    }))
    const exitCode = Number(read(`${index}.status`))
    return { stdout: read(`${index}.stdout`), stderr, exitCode, requests, isEndedStream: ended.has(index) }
  })
}

/** Ends each stream that would run until its time limit, once it has sent what its page shows; returns which. */
async function endStreams(commands: readonly Commands[], done: Promise<unknown>): Promise<Set<number>> {
  const ended = new Set<number>()
  const streams = commands.flatMap(({ code, response }, index) =>
    code.includes('--max-time') ? [{ index, response }] : [],
  )
  while (ended.size < streams.length && !(await settledWithin(done, 20)))
    for (const { index, response } of streams) {
      const pid = Number(read(`${index}.pid`))
      if (pid === 0 || ended.has(index) || responseComplaints(response, read(`${index}.stdout`)).length > 0)
        continue
      process.kill(pid)
      ended.add(index)
    }
  return ended
}

/** A file that the commands wrote; empty if they did not yet. */
function read(name: string): string {
  const path = join(folder, name)
  return existsSync(path) ? readFileSync(path, 'utf8') : ''
}

/** Whether a request is of a call, for the default sandbox or for another one. */
function isOf({ method, path }: ShownCall, request: Request): boolean {
  const pattern = path.replace('/v1/', '/v1/(?:sandboxes/[^/]+/)?').replaceAll(/\{\w+\}/g, '[^/]+')
  return method === request.method && new RegExp(`^${pattern}$`).test(request.path)
}

/** A sentence for everything about a block that is not as its page says. */
function complaints(commands: Commands, ran: Ran): string[] {
  const { stdout, stderr, exitCode, requests, isEndedStream } = ran
  const { call, response, status } = commands
  const shown = requests.findLast((one) => call !== undefined && isOf(call, one)) ?? requests.at(-1)
  const failed = requests.filter((one) => one !== shown && one.status >= 400)
  return [
    ...(exitCode === 0 || isEndedStream ? [] : [`exit code ${exitCode}: ${stderr}`]),
    ...failed.map((one) => `${one.method} ${one.path}: ${one.status}`),
    ...(shown === undefined || shown.status === (status ?? 200)
      ? []
      : [`the page shows status ${status ?? 200}, the daemon sent ${shown.status}: ${stdout}`]),
    ...responseComplaints(response, stdout),
  ]
}

function responseComplaints(response: Commands['response'], stdout: string): string[] {
  if (response === undefined) return []
  if (response.language === 'json') return differences(parsePattern(response.code), JSON.parse(stdout))
  return textPattern(response.code).test(stdout.trimEnd())
    ? []
    : [`the page shows:\n${response.code}\nthe output is:\n${stdout}`]
}

/** The calls of a page that the daemon did not serve with their status. */
function uncalled({ calls }: HttpPage): ShownCall[] {
  return calls.filter(
    (call) => call.status !== 101 && !served.some((one) => isOf(call, one) && one.status === call.status),
  )
}

function promisedLines(code: string): string[] {
  return [...code.matchAll(/(?:#|\/\/) → (.+)$/gm)].map(([, expected]) => expected!)
}

describe.each(pages.map((page) => [page.file, page] as const))('%s', (file, page) => {
  let listening: Listening
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'http-api-'))
    const server = createServer({
      host,
      tokens,
      defaultSandbox: { id: basename(file, '.md') },
      onRequest: (request) => served.push(request),
    })
    listening = await listen(server)
    url = listening.url
  })
  afterAll(async () => {
    await listening.close()
    rmSync(folder, { recursive: true, force: true })
  })

  it('shows the responses that the daemon sends to its commands', async () => {
    served.length = 0
    const ran = await runCommands(page.commands)
    const wrong = page.commands.flatMap((commands, index) =>
      complaints(commands, ran[index]!).map((complaint) => `${page.file}:${commands.line}: ${complaint}`),
    )
    expect(wrong).toEqual([])
    expect(uncalled(page)).toEqual([])
    const elsewhere = page.calls.filter((call) => {
      const own = ran.filter((__, index) => page.commands[index]!.call === call)
      const isShown = own.some(
        ({ requests, isEndedStream }) => isEndedStream || requests.some((one) => isOf(call, one)),
      )
      return call.status !== 101 && !isShown
    })
    expect(elsewhere).toEqual([])
  })

  it('shows a response of every call that has one', () => {
    const silent = page.calls.filter(
      (call) =>
        ![101, 204].includes(call.status) &&
        !page.commands.some(({ response, call: of }) => of === call && response !== undefined),
    )
    expect(silent).toEqual([])
  })

  it.each(page.programs.map(({ line, language, code }) => [language, line, code] as const))(
    'has a program in %s at line %i that prints the output in its comments',
    async (language, __, code) => {
      served.length = 0
      const { status, stdout, stderr } = await runProgram(language, code)
      expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
      for (const promised of promisedLines(code)) expect(stdout).toContain(promised)
      if (language === 'python') expect(uncalled(page)).toEqual([])
    },
  )
})

describe('the pages of the HTTP API', () => {
  const declared: Route[] = Object.values(routes)
  const known = [
    ...declared.map((route) => ({
      call: `${route.method} ${pathsOf(route).at(-1)}`,
      access: route.access,
      status: isSocketRoute(route) ? 101 : (route.status ?? 200),
    })),
    ...Object.entries(textRoutes).map(([path, { get }]) => ({
      call: `GET ${path}`,
      access: 'security' in get ? 'no' : 'read',
      status: 200,
    })),
  ]
  const byCall = (a: { call: string }, b: { call: string }) => (a.call < b.call ? -1 : 1)

  it('show every route once, with its access and its status', () => {
    const shown = references.flatMap(({ calls }) =>
      calls.map(({ method, path, access, status }) => ({ call: `${method} ${path}`, access, status })),
    )
    expect(shown.toSorted(byCall)).toEqual(known.toSorted(byCall))
  })

  it('are linked from the index of the guide, call by call', () => {
    const index = readFileSync(join(root, guide!.file), 'utf8')
    const linked = [...index.matchAll(/^\| \[`([A-Z]+ \/[^`]+)`\]\(([^)#]+)#[^)]+\)/gm)].map(
      ([, call, file]) => `${call} docs/${file}`,
    )
    const expected = references.flatMap(({ file, calls }) =>
      calls.map(({ method, path }) => `${method} ${path} ${file}`),
    )
    expect(linked.toSorted()).toEqual(expected.toSorted())
  })
})
