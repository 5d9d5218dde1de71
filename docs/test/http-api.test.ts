import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { type AddressInfo, createServer as createTcpServer } from 'node:net'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { jsonlSink } from '@vitrine/journal'
import { isSocketRoute, pathsOf, type Route, routes } from '@vitrine/protocol/http'
import { local } from '@vitrine/sandbox'
import { createServer, type Listening, listen } from '@vitrine/server'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { claude } from '../../packages/agents/src/registry/agents/claude.ts'
import { textRoutes } from '../../packages/server/src/openapi/text-routes.ts'
import {
  dataFolder,
  openDaemon,
  readToken,
  type TestDaemon,
  token,
} from '../../packages/server/test/daemon.ts'
import { type Commands, httpPages, type ShownCall } from './http-pages.ts'
import { differences, parsePattern, textPattern } from './response-pattern.ts'

const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))))
const pages = httpPages(root)
const [guide, ...references] = pages

interface Request {
  readonly method: string
  readonly path: string
  readonly status: number
}

const tokens = [
  { name: 'owner', token, access: 'full' },
  { name: 'viewer', token: readToken, access: 'read' },
] as const
let daemon: TestDaemon
/** The daemon's address for the page that is tested: each page has a default sandbox of its own. */
let url: string
let folder: string
/** A port that is free, for a server in the sandbox. */
let port: number
const served: Request[] = []

beforeAll(async () => {
  const data = dataFolder()
  folder = mkdtempSync(join(tmpdir(), 'http-api-'))
  port = await freePort()
  installClaude(data)
  daemon = await openDaemon({
    data,
    host: { providers: [local({ data, isolation: 'none' })] },
  })
  await daemon.host.store.addSink('audit-log', jsonlSink({ path: join(data, 'audit.jsonl') }))
})
afterAll(async () => {
  await daemon?.close()
  rmSync(daemon?.data ?? folder, { recursive: true, force: true })
  rmSync(folder, { recursive: true, force: true })
})

async function freePort(): Promise<number> {
  const server = createTcpServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}

/** Marks an agent as installed, because an installation needs the network. */
function installClaude(data: string): void {
  const { name, source } = claude
  const packages = source.kind === 'npm' ? source.packages : []
  const [{ version }] = packages
  const path = join(data, 'agents', name, version)
  mkdirSync(path, { recursive: true })
  const marker = { name, version, packages, installedAt: new Date().toISOString() }
  writeFileSync(join(path, 'vitrine-agent.json'), JSON.stringify(marker))
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
  readonly requests: readonly Request[]
}

/** Runs the commands of a page in one shell. Its `curl` also reports each request and the status of its response. */
async function runCommands(commands: readonly Commands[]): Promise<Ran[]> {
  const curl = `curl() { command curl --silent --show-error --write-out '%{stderr}request %{method} %{url} %{http_code}\\n' "$@"; }`
  const blocks = commands.map(
    ({ code }, index) => `{\n${code}\n} >${index}.stdout 2>${index}.stderr\necho $? >${index}.status`,
  )
  expect(await run('bash', ['-c', [curl, ...blocks].join('\n')])).toMatchObject({ status: 0, stderr: '' })
  const read = (name: string) => readFileSync(join(folder, name), 'utf8')
  return commands.map((_, index) => {
    const stderr = read(`${index}.stderr`)
    const requests = [...stderr.matchAll(/^request (\S+) (\S+) (\d+)$/gm)].map(([, method, url, status]) => ({
      method: method!,
      path: new URL(url!).pathname,
      status: Number(status),
    }))
    const exitCode = Number(read(`${index}.status`))
    return { stdout: read(`${index}.stdout`), stderr, exitCode, requests }
  })
}

function isOf({ method, path }: Pick<ShownCall, 'method' | 'path'>, request: Request): boolean {
  const pattern = path.replaceAll(/\{\w+\}/g, '[^/]+')
  const prefix =
    path.startsWith('/v1/') && !path.startsWith('/v1/sandboxes') ? '/v1(?:/sandboxes/[^/]+)?' : ''
  return (
    method === request.method && new RegExp(`^${prefix}${pattern.slice(prefix && 3)}$`).test(request.path)
  )
}

/** A sentence for everything about a block that is not as its page says. */
function complaints(commands: Commands, { stdout, stderr, exitCode, requests }: Ran): string[] {
  const { code, call, response, status } = commands
  const shown = requests.findLast((one) => call !== undefined && isOf(call, one)) ?? requests.at(-1)
  const failed = requests.filter((one) => one !== shown && one.status >= 400)
  // A stream without an end is cut by curl's time limit.
  const isCut = code.includes('--max-time') && exitCode === 28
  return [
    ...(exitCode === 0 || isCut ? [] : [`exit code ${exitCode}: ${stderr}`]),
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

function promisedLines(code: string): string[] {
  return [...code.matchAll(/(?:#|\/\/) → (.+)$/gm)].map(([, expected]) => expected!)
}

describe.each(pages.map((page) => [page.file, page] as const))('%s', (file, page) => {
  let listening: Listening
  beforeAll(async () => {
    const { host } = daemon
    const server = createServer({
      host,
      tokens,
      defaultSandbox: { id: basename(file, '.md'), local: { isolation: 'none' } },
      onRequest: (request) => served.push(request),
    })
    listening = await listen(server)
    url = listening.url
  })
  afterAll(() => listening.close())

  it('shows the responses that the daemon sends to its commands', async () => {
    const ran = await runCommands(page.commands)
    const wrong = page.commands.flatMap((commands, index) =>
      complaints(commands, ran[index]!).map((complaint) => `${page.file}:${commands.line}: ${complaint}`),
    )
    expect(wrong).toEqual([])
    const unseen = page.calls.filter((call) => {
      const requests = ran
        .filter((__, index) => page.commands[index]!.call === call)
        .flatMap((one) => one.requests)
      return call.status !== 101 && !requests.some((one) => isOf(call, one) && one.status === call.status)
    })
    expect(unseen).toEqual([])
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
      if (language !== 'python') return
      const missing = page.calls.filter(
        (call) =>
          call.status !== 101 && !served.some((request) => isOf(call, request) && request.status < 300),
      )
      expect(missing).toEqual([])
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
