import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { chromium, type Page } from 'playwright-core'
import { openDaemon, type TestDaemon } from '../../packages/server/test/daemon.ts'

interface ServedFile {
  readonly url: string
  readonly type: string
}

export interface OpenPage extends AsyncDisposable {
  readonly page: Page
  readonly daemon: TestDaemon
}

/** Serves the files of a page, and opens it in a browser beside a daemon that it may call. */
export async function openPage(files: Readonly<Record<string, ServedFile>>): Promise<OpenPage> {
  await using opened = new AsyncDisposableStack()
  const server = createServer(({ url = '' }, response) => {
    const file = files[url]
    if (file === undefined) return void response.writeHead(404).end()
    response.writeHead(200, { 'content-type': file.type }).end(readFileSync(new URL(file.url)))
  })
  opened.defer(() => void server.close())
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const daemon = opened.use(await openDaemon({ cors: [origin] }))
  // Chromium's own sandbox does not start for root; the page is ours.
  const browser = await chromium.launch({ executablePath: '/usr/bin/chromium', args: ['--no-sandbox'] })
  opened.defer(() => browser.close())
  const page = await browser.newPage()
  await page.goto(origin)
  const kept = opened.move()
  return { page, daemon, [Symbol.asyncDispose]: () => kept.disposeAsync() }
}
