import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { chromium } from 'playwright-core'
import { expect, it } from 'vitest'
import { openDaemon } from '../../packages/server/test/daemon.ts'

const html = readFileSync(new URL('../browser-page/index.html', import.meta.url))

it('a page shows what an agent says, and a person answers its request', async () => {
  await using open = new AsyncDisposableStack()
  const files = createServer((_, response) => {
    response.writeHead(200, { 'content-type': 'text/html' }).end(html)
  })
  open.defer(() => void files.close())
  await new Promise<void>((resolve) => files.listen(0, '127.0.0.1', resolve))
  const origin = `http://127.0.0.1:${(files.address() as AddressInfo).port}`
  const daemon = open.use(await openDaemon({ cors: [origin] }))
  // Chromium's own sandbox does not start for root; the page is ours.
  const browser = await chromium.launch({ executablePath: '/usr/bin/chromium', args: ['--no-sandbox'] })
  open.defer(() => browser.close())
  const page = await browser.newPage()
  const patience = { timeout: 30_000 }
  await page.goto(origin)
  await page.getByLabel('Daemon').fill(daemon.url)
  await page.getByLabel('Prompt').fill('/write page.txt hi')
  await page.getByLabel('Token').fill('wrong')
  await page.getByRole('button', { name: 'Send' }).click()
  await page.getByText('token_invalid').waitFor(patience)
  await page.getByLabel('Token').fill(daemon.token)
  await page.getByRole('button', { name: 'Send' }).click()
  await page
    .getByRole('button', { name: /Write page.txt: Allow/ })
    .first()
    .click(patience)
  await page.getByText('The turn ended: ok').waitFor(patience)
  expect(await page.locator('#out').textContent()).toContain('created page.txt')
})
