import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { fileURLToPath } from 'node:url'
import { type Browser, chromium, type Page, type Request, type WebSocket } from 'playwright-core'
import { rolldown } from 'rolldown'
import { openDaemon, type TestDaemon, token } from '../../../server/test/daemon.ts'
import type * as client from '../../src/index.ts'

/** Globals of functions that run in the page. */
export interface InPage {
  readonly vitrine: typeof client
  /** Values that a test stores between two calls. */
  kept: Record<string, unknown>
}

export interface Where {
  readonly url: string
  readonly token: string
  readonly sandbox: string
}

const entry = fileURLToPath(new URL('../../src/index.ts', import.meta.url))
const html = `<!doctype html><title>A page</title><script type="module">
  import * as vitrine from '/client.js'
  Object.assign(globalThis, { vitrine, kept: {} })
</script>`

/** A browser, a page of an origin of its own that has the client, and a daemon that lets that origin in. */
export class ClientPages {
  readonly browser: Browser
  readonly origin: string
  readonly daemon: TestDaemon
  readonly #close: () => Promise<void>

  private constructor(browser: Browser, origin: string, daemon: TestDaemon, close: () => Promise<void>) {
    this.browser = browser
    this.origin = origin
    this.daemon = daemon
    this.#close = close
  }

  static async open(isAllowed: 'allowed' | 'not allowed'): Promise<ClientPages> {
    await using failed = new AsyncDisposableStack()
    const code = await bundle()
    const server = createServer((request, response) => {
      const isScript = request.url === '/client.js'
      response
        .writeHead(200, { 'content-type': isScript ? 'text/javascript' : 'text/html' })
        .end(isScript ? code : html)
    }).listen(0, '127.0.0.1')
    failed.defer(() => void server.close())
    await new Promise((resolve) => server.once('listening', resolve))
    const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    const cors = isAllowed === 'allowed' ? [origin] : ['http://app.example.com']
    const daemon = failed.use(await openDaemon({ cors, limits: { heartbeatMs: 500 } }))
    // Chromium's own sandbox does not start for root; the page is ours.
    const browser = await chromium.launch({ executablePath: '/usr/bin/chromium', args: ['--no-sandbox'] })
    failed.defer(() => browser.close())
    const all = failed.move()
    return new ClientPages(browser, origin, daemon, () => all.disposeAsync())
  }

  async newPage(): Promise<OpenPage> {
    const context = await this.browser.newContext()
    const page = await context.newPage()
    const opened = new OpenPage(page)
    await page.goto(this.origin)
    await page.waitForFunction(() => 'vitrine' in globalThis)
    return opened
  }

  /** Where the page finds the daemon, or another way to it. */
  where(url = this.daemon.url): Where {
    return { url, token, sandbox: this.daemon.sandbox }
  }

  close(): Promise<void> {
    return this.#close()
  }
}

/** A page, and what it has open. */
export class OpenPage implements AsyncDisposable {
  readonly page: Page
  readonly sockets: WebSocket[] = []
  /** Uncaught errors. */
  readonly complaints: string[] = []
  readonly #open = new Set<Request>()

  constructor(page: Page) {
    this.page = page
    page.on('request', (request) => this.#open.add(request))
    for (const over of ['requestfinished', 'requestfailed'] as const)
      page.on(over as 'requestfinished', (request) => this.#open.delete(request))
    page.on('websocket', (socket) => this.sockets.push(socket))
    page.on('pageerror', (error) => this.complaints.push(error.message))
  }

  /** URLs of requests whose responses are not complete. */
  get openRequests(): string[] {
    return [...this.#open].map((request) => request.url())
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.page.context().close()
  }
}

async function bundle(): Promise<string> {
  await using build = await rolldown({
    input: entry,
    platform: 'browser',
    resolve: { conditionNames: ['source', 'browser', 'import', 'default'] },
  })
  const { output } = await build.generate({ format: 'esm', codeSplitting: false })
  return output.map((part) => (part.type === 'chunk' ? part.code : '')).join('')
}
