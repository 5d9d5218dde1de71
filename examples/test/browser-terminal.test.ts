import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { chromium } from 'playwright-core'
import { expect, it } from 'vitest'
import { openDaemon } from '../../packages/server/test/daemon.ts'

const files = new Map([
  ['/', { url: import.meta.resolve('../browser-terminal/index.html'), type: 'text/html' }],
  ['/xterm.mjs', { url: import.meta.resolve('@xterm/xterm/lib/xterm.mjs'), type: 'text/javascript' }],
  ['/xterm.css', { url: import.meta.resolve('@xterm/xterm/css/xterm.css'), type: 'text/css' }],
])

it('a page shows a terminal of a sandbox, and what is typed into it runs there', async () => {
  await using open = new AsyncDisposableStack()
  const server = createServer(({ url = '' }, response) => {
    const file = files.get(url)
    if (file === undefined) return void response.writeHead(404).end()
    response.writeHead(200, { 'content-type': file.type }).end(readFileSync(new URL(file.url)))
  })
  open.defer(() => void server.close())
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const daemon = open.use(await openDaemon({ cors: [origin] }))
  // Chromium's own sandbox does not start for root; the page is ours.
  const browser = await chromium.launch({ executablePath: '/usr/bin/chromium', args: ['--no-sandbox'] })
  open.defer(() => browser.close())
  const page = await browser.newPage()
  const patience = { timeout: 30_000 }
  await page.goto(origin)
  await page.getByLabel('Daemon').fill(daemon.url)
  await page.getByLabel('Token').fill('wrong')
  await page.getByRole('button', { name: 'Open' }).click()
  await page.getByText('token_invalid').waitFor(patience)
  await page.getByLabel('Token').fill(daemon.token)
  await page.getByRole('button', { name: 'Open' }).click()
  await page.locator('.xterm.focus').waitFor(patience)
  await page.keyboard.type('echo $((6 * 7)) Zürich; stty size; exit 3\n')
  await page.getByText('exit 3', { exact: true }).waitFor(patience)
  const rows = await page.locator('.xterm-rows > div').allTextContents()
  const lines = rows.map((row) => row.trimEnd())
  expect(lines).toEqual(expect.arrayContaining(['42 Zürich', '24 80']))
})
