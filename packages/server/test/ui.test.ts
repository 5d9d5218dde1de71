import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { type Browser, chromium, type Page } from 'playwright-core'
import { afterAll, beforeAll, beforeEach, expect, it, onTestFinished } from 'vitest'
import { openDaemon, type TestDaemon, token } from './daemon.ts'

let browser: Browser
let daemon: TestDaemon

beforeAll(async () => {
  // Chromium's own sandbox does not start for root; the page is ours.
  browser = await chromium.launch({ executablePath: '/usr/bin/chromium', args: ['--no-sandbox'] })
})
afterAll(() => browser?.close())

beforeEach(async () => {
  daemon = await openDaemon()
  // By then the page of the test is closed.
  onTestFinished(() => daemon.close())
})

interface Opened {
  readonly page: Page
  /** Messages of the browser: a violated policy, an uncaught error. */
  readonly complaints: string[]
}

async function open(hash = `#token=${token}`, width = 1280): Promise<Opened> {
  const context = await browser.newContext({ viewport: { width, height: 800 } })
  onTestFinished(() => context.close())
  const page = await context.newPage()
  const complaints: string[] = []
  page.on('console', (message) => {
    // The page itself reports a failed connection.
    if (message.type() === 'error' && !message.text().startsWith('Failed to load'))
      complaints.push(message.text())
  })
  page.on('pageerror', (error) => complaints.push(error.message))
  await page.goto(`${daemon.url}/ui/${hash}`)
  return { page, complaints }
}

function log(...messages: string[]): Promise<unknown> {
  const events = messages.map((message) => ({ type: 'log.message', data: { level: 'info', message } }))
  return daemon.call('POST', '/v1/events', { events })
}

const rowWith = (page: Page, text: string) => page.locator('.row', { hasText: text })

async function seqs(page: Page): Promise<number[]> {
  return (await page.locator('.row .seq').allTextContents()).map(Number)
}

it('takes the token from the fragment, hides it, and shows past and new events', async () => {
  await log('from before')
  const { page, complaints } = await open()
  await rowWith(page, 'from before').waitFor()
  await page.locator('#state[data-state=live]').waitFor()
  expect(page.url()).toBe(`${daemon.url}/ui/`)
  await daemon.call('POST', '/v1/exec', { command: 'echo hello > made-by-hand.txt' })
  const row = rowWith(page, 'made-by-hand.txt').and(page.locator('[data-family=file]'))
  // The watcher may see the file both before and after the shell has written to it.
  await row.first().waitFor()
  const seen = await seqs(page)
  expect(seen).toEqual(seen.map((_, index) => index + 1))
  expect(await page.context().cookies()).toEqual([])
  expect(complaints).toEqual([])
})

it('asks for a missing token, and reports a wrong one', async () => {
  const { page, complaints } = await open('')
  const field = page.getByLabel('Token', { exact: true })
  await field.fill('not-the-token')
  await page.getByRole('button', { name: 'Connect' }).click()
  await page.getByRole('alert').filter({ hasText: 'not known to this daemon' }).waitFor()
  await field.fill(token)
  await field.press('Enter')
  await rowWith(page, 'sandbox.ready').waitFor()
  await page.reload()
  await rowWith(page, 'sandbox.ready').waitFor()
  expect(page.url()).toBe(`${daemon.url}/ui/`)
  expect(complaints).toEqual([])
})

it('shows an event as JSON by keyboard and by click', async () => {
  await log('the one', 'the other')
  const { page } = await open()
  await rowWith(page, 'the other').waitFor()
  await page.getByRole('listbox').focus()
  await page.keyboard.press('ArrowUp')
  await page.locator('#json', { hasText: '"message": "the other"' }).waitFor()
  await page.keyboard.press('ArrowUp')
  await page.locator('#json', { hasText: '"message": "the one"' }).waitFor()
  expect(await page.locator('.row[aria-selected=true]').textContent()).toContain('the one')
  await page.keyboard.press('Escape')
  await page.locator('#detail').waitFor({ state: 'hidden' })
  await rowWith(page, 'the other').click()
  await page.locator('#json', { hasText: '"message": "the other"' }).waitFor()
})

it('filters past and new events by type prefix and by text', async () => {
  await log('apples', 'pears')
  const { page } = await open()
  await rowWith(page, 'pears').waitFor()
  await page.keyboard.press('/')
  await page.keyboard.type('log.mess apples')
  await expect.poll(() => page.locator('.row .text').allTextContents()).toEqual(['info apples'])
  await log('plums', 'more apples')
  await expect
    .poll(() => page.locator('.row .text').allTextContents())
    .toEqual(['info apples', 'info more apples'])
  await page.getByRole('searchbox').fill('sandbox.rea')
  await expect.poll(() => page.locator('.row .type').allTextContents()).toEqual(['sandbox.ready'])
  await page.getByRole('searchbox').fill('nowhere to be found')
  await page.getByText('No events match the filter.').waitFor()
})

it('renders the contents of events as text only', async () => {
  const { page, complaints } = await open()
  await log('<img src=x onerror="document.title=1"> \u202eevil\u202c \u001b[31m \u200b')
  const row = rowWith(page, '<img src=x')
  await row.waitFor()
  expect(await row.locator('.text').textContent()).toBe(
    'info <img src=x onerror="document.title=1"> \\u202eevil\\u202c \\x1b[31m \\u200b',
  )
  await row.click()
  await page.locator('#json', { hasText: '\\u202eevil' }).waitFor()
  expect(await page.locator('#json').textContent()).not.toMatch(/[\u202e\u200b]/)
  expect(await page.locator('img').count()).toBe(0)
  expect(await page.title()).toBe('Vitrine')
  expect(complaints).toEqual([])
})

it('shows the whole host, and any single sandbox', async () => {
  const { id } = await daemon.call('POST', '/v1/sandboxes', { id: 'second', local: { isolation: 'none' } })
  const { page } = await open()
  await rowWith(page, 'sandbox.ready').waitFor()
  await page.getByLabel('Sandbox').selectOption('all')
  await rowWith(page, 'host.started').waitFor()
  await expect.poll(() => page.locator('.from', { hasText: id }).count()).toBeGreaterThan(0)
  await page.getByLabel('Sandbox').selectOption(id)
  await rowWith(page, 'sandbox.ready').waitFor()
  await page.locator('.from').first().waitFor({ state: 'detached' })
  expect((await seqs(page))[0]).toBe(1)
})

it('keeps 2,000 rows, follows the newest, and does not scroll while the user reads', async () => {
  const { page } = await open()
  await rowWith(page, 'sandbox.ready').waitFor()
  for (let part = 0; part < 5; part++)
    await log(...Array.from({ length: 500 }, (_, index) => `line ${part * 500 + index}.`))
  await rowWith(page, 'line 2499.').waitFor()
  const seen = await seqs(page)
  expect(seen.length).toBe(2_000)
  expect(seen).toEqual(seen.map((_, index) => seen[0]! + index))
  const distance = () =>
    page.locator('#list').evaluate((list) => list.scrollHeight - list.scrollTop - list.clientHeight)
  await expect.poll(distance).toBeLessThan(32)
  await page.locator('#list').evaluate((list) => list.scrollTo(0, 5_000))
  await page.locator('#newest').waitFor()
  await log('while away')
  await page.locator('#newest', { hasText: '1 new' }).click()
  await expect.poll(distance).toBeLessThan(32)
  expect(await rowWith(page, 'while away').isVisible()).toBe(true)
})

it('loads older events on request', async () => {
  await log(...Array.from({ length: 700 }, (_, index) => `old ${index}.`))
  const { page } = await open()
  await rowWith(page, 'old 699.').waitFor()
  expect((await seqs(page)).length).toBe(500)
  await page.getByRole('button', { name: 'Show earlier events' }).click()
  await expect.poll(async () => (await seqs(page))[0]).toBe(1)
  const seen = await seqs(page)
  expect(seen).toEqual(seen.map((_, index) => index + 1))
})

it('resumes when the daemon restarts, with no event lost or repeated', async () => {
  const data = mkdtempSync('/var/tmp/vitrine-ui-')
  chmodSync(data, 0o711)
  onTestFinished(async () => {
    await daemon.close()
    rmSync(data, { recursive: true, force: true })
  })
  await daemon.close()
  daemon = await openDaemon({ data })
  const { page, complaints } = await open()
  await rowWith(page, 'sandbox.ready').waitFor()
  await log('before it went')
  await rowWith(page, 'before it went').waitFor()
  await daemon.close()
  await page.locator('#state[data-state=waiting]').waitFor()
  daemon = await openDaemon({ data, listen: { port: daemon.port } })
  await log('after it came')
  await rowWith(page, 'after it came').waitFor()
  const seen = await seqs(page)
  expect(seen).toEqual(seen.map((_, index) => index + 1))
  expect(complaints).toEqual([])
})

it('shows a gap for trimmed events, and events of unknown types', async () => {
  const gap = {
    journal: 'default',
    type: 'journal.gap',
    data: { from: 3, to: 9, reason: 'trimmed', types: ['log.message'], cursor: 'c9' },
  }
  const strange = { journal: 'default', seq: 10, time: 'never', type: '<b>.odd', source: 'host', data: [1] }
  const { page, complaints } = await open('#')
  await page.route('**/v1/events*', (route) =>
    route.request().headers().accept === 'text/event-stream'
      ? route.fulfill({
          contentType: 'text/event-stream',
          body: `event: gap\ndata: ${JSON.stringify(gap)}\n\nid: c10\ndata: ${JSON.stringify(strange)}\n\n`,
        })
      : route.fulfill({ json: { events: [], cursor: 'c0', end: true } }),
  )
  await page.getByLabel('Token', { exact: true }).fill(token)
  await page.getByLabel('Token', { exact: true }).press('Enter')
  await rowWith(page, 'events 3 to 9 are missing: trimmed').first().waitFor()
  await rowWith(page, '<b>.odd').first().waitFor()
  expect(complaints).toEqual([])
})

it.each([1280, 390])('fits a screen of %i pixels', async (width) => {
  await log('a word '.repeat(200))
  const { page } = await open(undefined, width)
  await rowWith(page, 'a word').first().click()
  await page.locator('#json', { hasText: 'a word' }).waitFor()
  const widths = await page.locator('html').evaluate((html) => ({
    page: html.scrollWidth,
    widest: Math.max(...[...html.querySelectorAll('body *')].map((one) => one.getBoundingClientRect().right)),
  }))
  expect(widths.page).toBeLessThanOrEqual(width)
  expect(widths.widest).toBeLessThanOrEqual(width)
})
