import { mkdirSync, writeFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer as createHttpServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { connect, type RemoteSandbox, type VitrineClient } from '@vitrine/client'
import {
  createSandbox,
  type FunctionAgent,
  type Host,
  inlineSandboxClient,
  inProcessSandboxClient,
  local,
  openHost,
} from '@vitrine/host'
import { memoryStore, openStore, otlpSink } from '@vitrine/journal'
import { type JournalItem, type JournalReader, type OnObserverError, readPages } from '@vitrine/protocol'
import { createServer, listen } from '@vitrine/server'
import { describe, expect, it, onTestFinished } from 'vitest'
import { eventually } from '../src/waiting/within.ts'

type Observer = () => unknown

interface Observers {
  /** Throws or rejects on every call. */
  readonly failing: Observer
  /** Registered beside the failing one. Where only one observer fits, called when the work has succeeded. */
  readonly healthy: () => void
  readonly onObserverError: OnObserverError
}

interface Registered {
  /** Does work that calls the observers at least once. */
  fire(): Promise<unknown>
  /** The journal with the message about the error; undefined where no journal belongs to the call. */
  readonly journal: JournalReader | undefined
}

interface Registration {
  /** How a user registers the observer. */
  readonly how: string
  /** Its name in reports. */
  readonly observer: string
  register(observers: Observers): Promise<Registered>
}

const echo: FunctionAgent = { name: 'echo', onPrompt: (prompt) => [prompt] }
const plain = local({ isolation: 'none', watch: false })
const installed = { name: 'claude', version: '9.9.9', packages: [], installedAt: '2026-01-01T00:00:00.000Z' }

/** Every place where a user registers a function that only observes. */
const registrations: readonly Registration[] = [
  ...[false, true].map((ordered) => ({
    how: `journal.tap(…, { ordered: ${ordered} })`,
    observer: 'tap',
    async register({ failing, healthy, onObserverError }: Observers) {
      const store = await openStore(memoryStore(), { onObserverError })
      onTestFinished(() => store.close())
      const journal = await store.journal('sbx_a')
      const observed = failing as () => void
      journal.tap(observed, { ordered })
      journal.tap(healthy, { ordered })
      const event = { type: 'log.message', data: { level: 'info', message: 'work' } }
      return { fire: () => journal.append([event]), journal }
    },
  })),
  {
    how: 'otlpSink({ onPartial })',
    observer: 'onPartial',
    async register({ failing, healthy, onObserverError }) {
      const store = await openStore(memoryStore(), { onObserverError })
      onTestFinished(() => store.close())
      const journal = await store.journal('sbx_a')
      const onPartial = () => failing() as undefined
      const sink = otlpSink({ url: await partialCollector(), onPartial })
      await store.addSink('otel', sink, { types: ['file.*'] })
      const fire = async () => {
        await journal.append([{ type: 'file.created', data: { path: '/a', kind: 'file' } }])
        await journal.flush()
        healthy()
      }
      return { fire, journal: await store.journal('host') }
    },
  },
  {
    how: 'session.onEvent(…) of createSandbox',
    observer: 'session.onEvent',
    async register({ failing, healthy, onObserverError }) {
      const sandbox = await createSandbox({
        provider: plain,
        agents: [echo],
        install: 'never',
        onObserverError,
      })
      onTestFinished(() => sandbox.close())
      const session = await sandbox.openSession({ agent: 'echo' })
      session.onEvent(failing as () => void)
      session.onEvent(healthy)
      return { fire: () => session.prompt('work'), journal: sandbox.journal }
    },
  },
  ...[
    (onObserverError: OnObserverError) => inProcessSandboxClient({ onPrompt: () => 'done', onObserverError }),
    (onObserverError: OnObserverError) =>
      inlineSandboxClient(() => ({ execute: async () => 'done' }), { onObserverError }),
  ].map((newClient, index) => ({
    how: `session.onEvent(…) of ${index === 0 ? 'inProcessSandboxClient' : 'inlineSandboxClient'}`,
    observer: 'session.onEvent',
    async register({ failing, healthy, onObserverError }: Observers) {
      const sandbox = await newClient(onObserverError).create()
      onTestFinished(() => sandbox.close())
      const session = await sandbox.openSession({ agent: 'in-process' })
      session.onEvent(failing as () => void)
      session.onEvent(healthy)
      return { fire: () => session.prompt('work'), journal: sandbox.journal }
    },
  })),
  {
    how: 'session.onEvent(…) of a host',
    observer: 'session.onEvent',
    async register({ failing, healthy, onObserverError }) {
      const host = await newHost({ onObserverError })
      const sandbox = await host.create({ local: plain.options })
      const session = await sandbox.openSession({ agent: 'echo' })
      session.onEvent(failing as () => void)
      session.onEvent(healthy)
      return { fire: () => session.prompt('work'), journal: sandbox.journal }
    },
  },
  {
    how: 'openHost({ onInstall })',
    observer: 'onInstall',
    async register({ failing, healthy, onObserverError }) {
      const host = await newHost({ onObserverError, onInstall: () => failing() as undefined })
      const options = { version: installed.version, onProgress: healthy }
      const fire = () => host.installAgent('claude', options)
      return { fire, journal: await host.store.journal('host') }
    },
  },
  {
    how: 'host.installAgent(…, { onProgress })',
    observer: 'onProgress',
    async register({ failing, healthy, onObserverError }) {
      const host = await newHost({ onObserverError, onInstall: healthy })
      const options = { version: installed.version, onProgress: () => failing() as undefined }
      const fire = () => host.installAgent('claude', options)
      return { fire, journal: await host.store.journal('host') }
    },
  },
  {
    how: 'client.installAgent(…, { onProgress })',
    observer: 'onProgress',
    async register({ failing, healthy, onObserverError }) {
      const { client } = await newRemote(onObserverError)
      const options = { version: installed.version, onProgress: () => failing() as undefined }
      const fire = async () => {
        await client.installAgent('claude', options)
        healthy()
      }
      return { fire, journal: undefined }
    },
  },
  ...(['uploadDirectory', 'downloadDirectory'] as const).flatMap((method) =>
    (['createSandbox', 'a client'] as const).map((of) => ({
      how: `files.${method}(…, { onProgress }) of ${of}`,
      observer: 'files.onProgress',
      async register({ failing, healthy, onObserverError }: Observers) {
        const sandbox = await (of === 'a client'
          ? newRemote(onObserverError).then((remote) => remote.sandbox)
          : createSandbox({ provider: plain, install: 'never', onObserverError }))
        onTestFinished(() => sandbox.close())
        const directory = await newFolder()
        writeFileSync(join(directory, 'file'), 'x')
        const fire = async () => {
          await sandbox.files[method](directory, { onProgress: () => failing() as undefined })
          healthy()
        }
        return { fire, journal: sandbox.journal }
      },
    })),
  ),
  {
    how: 'session.onEvent(…) of a client',
    observer: 'session.onEvent',
    async register({ failing, healthy, onObserverError }) {
      const { sandbox } = await newRemote(onObserverError)
      const session = await sandbox.openSession({ agent: 'echo' })
      session.onEvent(failing as () => void)
      session.onEvent(healthy)
      return { fire: () => session.prompt('work'), journal: sandbox.journal }
    },
  },
  ...(['onData', 'onExit'] as const).map((method) => ({
    how: `terminal.${method}(…) of a client`,
    observer: `terminal.${method}`,
    async register({ failing, healthy, onObserverError }: Observers) {
      const { sandbox } = await newRemote(onObserverError)
      const fire = async () => {
        const process = await sandbox.spawn('read line; echo "$line"', { tty: { cols: 80, rows: 24 } })
        const terminal = sandbox.openTerminal(process.id)
        terminal[method](failing as () => void)
        terminal[method](healthy)
        await terminal.ready
        terminal.send('work\n')
        await process.exit
      }
      return { fire, journal: sandbox.journal }
    },
  })),
  {
    how: 'terminal.onError(…) of a client',
    observer: 'terminal.onError',
    async register({ failing, healthy, onObserverError }) {
      const { sandbox } = await newRemote(onObserverError)
      const fire = async () => {
        const terminal = sandbox.openTerminal('proc_missing')
        terminal.onError(failing as () => void)
        terminal.onError(healthy)
        await expect(terminal.ready).rejects.toMatchObject({ code: expect.any(String) })
      }
      return { fire, journal: sandbox.journal }
    },
  },
]

const failures: readonly (readonly [string, Observer])[] = [
  [
    'throws',
    () => {
      throw new Error('broken')
    },
  ],
  ['rejects', () => Promise.reject(new Error('broken'))],
  [
    'rejects later',
    async () => {
      await new Promise(setImmediate)
      throw new Error('broken')
    },
  ],
]

describe.each(registrations)('$how', ({ observer, register }) => {
  it.each(failures)(
    'an observer that %s is counted, reported and logged once, and harmless',
    async (_how, failing) => {
      const unhandled = collectUnhandled()
      const reports: { readonly error: unknown; readonly observer: string; readonly errors: number }[] = []
      let healthy = 0
      const { fire, journal } = await register({
        failing,
        healthy: () => {
          healthy += 1
        },
        onObserverError(error, failure) {
          reports.push({ error, ...failure })
          // An error of the handler itself is ignored.
          throw new Error('the handler is broken too')
        },
      })
      for (const round of [1, 2]) {
        const before = { healthy, reports: reports.length }
        await fire()
        await eventually(`the other observer in round ${round}`, () => healthy > before.healthy)
        await eventually(`a report in round ${round}`, () => reports.length > before.reports)
      }
      for (const [index, report] of reports.entries())
        expect(report).toMatchObject({ observer, errors: index + 1, error: { message: 'broken' } })
      if (journal !== undefined) {
        await eventually('the message', async () => (await observerLogs(journal)).length > 0)
        expect(await observerLogs(journal)).toMatchObject([
          {
            data: { level: 'error', message: `The observer ${observer} failed: broken`, observer, errors: 1 },
          },
        ])
      }
      expect(unhandled).toEqual([])
    },
  )
})

function collectUnhandled(): unknown[] {
  const found: unknown[] = []
  const note = (error: unknown) => void found.push(error)
  process.on('unhandledRejection', note)
  process.on('uncaughtException', note)
  onTestFinished(() => {
    process.off('unhandledRejection', note)
    process.off('uncaughtException', note)
  })
  return found
}

async function observerLogs(journal: JournalReader): Promise<readonly JournalItem[]> {
  const found: JournalItem[] = []
  for await (const { events } of readPages(journal, { types: ['log.message'] }))
    found.push(...events.filter(({ data }) => 'observer' in data))
  return found
}

async function newFolder(): Promise<string> {
  const folder = await mkdtemp(join('/var/tmp', 'vitrine-observers-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  return folder
}

async function newHost(options: Parameters<typeof openHost>[0]): Promise<Host> {
  const data = await mkdtemp(join('/var/tmp', 'vitrine-observers-'))
  const folder = join(data, 'agents', installed.name, installed.version)
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'vitrine-agent.json'), JSON.stringify(installed))
  const host = await openHost({ data, agents: [echo], install: 'never', ...options })
  onTestFinished(async () => {
    await host.close()
    await rm(data, { recursive: true, force: true })
  })
  return host
}

/** A sandbox over HTTP. Only the client reports to the handler, not the daemon's own host. */
async function newRemote(
  onObserverError: OnObserverError,
): Promise<{ readonly client: VitrineClient; readonly sandbox: RemoteSandbox }> {
  const host = await newHost({})
  const token = 'observers-token'
  const server = createServer({ host, tokens: [{ name: 'test', token, access: 'full' }] })
  const listening = await listen(server, { port: 0 })
  const client = connect({ url: listening.url, token, onObserverError })
  onTestFinished(async () => {
    await client.close()
    await listening.close()
  })
  return { client, sandbox: await client.create({ local: { ...plain.options, user: 'root' } }) }
}

/** A collector that always accepts only a part. */
async function partialCollector(): Promise<string> {
  const server = createHttpServer((request, response) => {
    request.resume()
    response.end('{"partialSuccess":{"rejectedLogRecords":1}}')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}
