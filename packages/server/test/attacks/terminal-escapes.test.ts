import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type Browser, chromium } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { vitrine } from '../../../cli/test/vitrine-process.ts'
import { openDaemon, type TestDaemon, token } from '../daemon.ts'

/** Characters that a terminal or a reader interprets as more than text. */
const hostile: Readonly<Record<string, string>> = {
  'a clipboard (OSC 52)': '\x1b]52;c;cm0gLXJmIH4=\x07',
  'a title (OSC 0)': '\x1b]0;owned\x07',
  'a link (OSC 8)': '\x1b]8;;https://evil.example\x1b\\click\x1b]8;;\x1b\\',
  'a device string (DCS)': '\x1bP+q544e\x1b\\',
  'a question to the terminal': '\x1b[6n\x1b[c\x1bZ',
  'a screen that is cleared': '\x1b[2J\x1b[H\x1bc',
  'a line written over': 'honest\rforged\b\b\b',
  'controls of 8 bits as text': '\u009b31m\u009d0;owned\u009c\u0090q\u009c',
  'another direction of writing': '\u202egnp.exe\u202c \u2066x\u2069',
  'what has no width': 'a\u200bb\u2060c\ufeffd\u00ade',
  'other ends of a line': 'a\u2028b\u2029c\u0085d\vf\f',
  'letters that are no letters': '\u{e0041}\u{e007f}',
}
/** Control characters that are left in a text, except our own line ends. */
const unsafeCharacters = /[\p{Cf}\u007f-\u009f\u2028\u2029]|(?!\n)\p{Cc}/u

let daemon: TestDaemon
beforeAll(async () => {
  daemon = await openDaemon()
  for (const [name, text] of Object.entries(hostile)) await say(name, text)
  // Bytes that are no text at all.
  await daemon.call('POST', '/v1/exec', { command: "printf 'raw \\233\\061m \\235 \\220 \\377 raw'" })
  await daemon.call('POST', '/v1/exec', { command: 'echo the-last-of-them' })
})
afterAll(() => daemon.close())

/** In output, in a name of a file, in an argument, in a variable, in a message, as an actor. */
async function say(name: string, text: string): Promise<void> {
  const headers = { 'vitrine-actor': encodeURIComponent(text), 'content-type': 'application/json' }
  const body = JSON.stringify({
    command: ['sh', '-c', 'printf %s "$1"; printf %s "$1" >&2; printf x > "f$1"', name, text],
    env: { HOSTILE: text },
  })
  expect((await daemon.fetch('/v1/exec', { method: 'POST', headers, body })).status).toBe(200)
  await daemon.call('POST', '/v1/events', {
    events: [{ type: 'log.message', data: { level: 'info', message: `${name}: ${text}` } }],
  })
}

const address = () => ['--url', daemon.url, '--token', token]

describe('the output of a program', () => {
  it.each([[[]], [['--json']], [['--all']], [['--all', '--json']]])(
    'is printed as text only by events tail %j',
    async (flags) => {
      const run = vitrine(['events', 'tail', ...address(), ...flags])
      await run.says(/the-last-of-them.*\n/)
      const bad = unsafeCharacters.exec(run.stdout)
      expect(bad && run.stdout.slice(Math.max(0, bad.index - 60), bad.index + 60)).toBeNull()
      for (const name of Object.keys(hostile)) expect(run.stdout).toContain(name)
      if (!flags.includes('--json')) return
      const events = run.stdout
        .slice(0, run.stdout.lastIndexOf('\n'))
        .split('\n')
        .map((line) => JSON.parse(line))
      const messages = events.filter(({ type }) => type === 'log.message').map(({ data }) => data.message)
      expect(messages).toEqual(Object.entries(hostile).map(([name, text]) => `${name}: ${text}`))
    },
  )

  it('is printed as text only with colours, which are all ours', async () => {
    const run = vitrine(['events', 'tail', ...address()], { env: { NO_COLOR: '', FORCE_COLOR: '1' } })
    await run.says(/the-last-of-them.*\n/)
    // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for.
    expect(run.stdout.replaceAll(/\x1b\[[0-9;]{1,8}m/g, '')).not.toMatch(unsafeCharacters)
  })
})

describe('the response of a server', () => {
  it('is printed as text only when it is an error', async () => {
    const detail = Object.values(hostile).join(' ')
    const server = createServer((_, response) => {
      const problem = { code: 'token_invalid', status: 401, detail, hint: detail, title: detail }
      response.writeHead(401, { 'content-type': 'application/problem+json' }).end(JSON.stringify(problem))
    }).listen(0, '127.0.0.1')
    onTestFinished(() => void server.close())
    await new Promise((resolve) => server.once('listening', resolve))
    const { port } = server.address() as AddressInfo
    const run = vitrine(['events', 'tail', '--url', `http://127.0.0.1:${port}`, '--token', token])
    expect((await run.exit()).code).toBe(1)
    expect(run.stderr).toContain('token_invalid')
    expect(run.stdout + run.stderr).not.toMatch(unsafeCharacters)
  })

  it('is printed as text only when it repeats the request', async () => {
    const name = '\x1b]0;owned\x07\u202e\u009b31m'
    const run = vitrine(['events', 'tail', ...address(), '--sandbox', name])
    expect((await run.exit()).code).toBe(1)
    expect(run.stderr.length).toBeGreaterThan(0)
    expect(run.stdout + run.stderr).not.toMatch(unsafeCharacters)
  })
})

describe('the page', () => {
  let browser: Browser
  beforeAll(async () => {
    // Chromium's own sandbox does not start for root; the page is ours.
    browser = await chromium.launch({ executablePath: '/usr/bin/chromium', args: ['--no-sandbox'] })
  })
  afterAll(() => browser?.close())

  it('renders it as text only, in rows and as JSON', async () => {
    await using context = await browser.newContext()
    const page = await context.newPage()
    await page.goto(`${daemon.url}/ui/#token=${token}`)
    const rows = page.locator('.row')
    await rows.filter({ hasText: 'the-last-of-them' }).first().waitFor()
    const texts = await rows.allTextContents()
    expect(texts.filter((text) => unsafeCharacters.test(text))).toEqual([])
    for (const [name] of Object.entries(hostile)) {
      const row = rows.filter({ hasText: `info ${name}` }).first()
      await row.click()
      await page.locator('#json', { hasText: name }).waitFor()
      expect(await page.locator('#json').textContent()).not.toMatch(unsafeCharacters)
    }
    expect(await page.title()).toBe('Vitrine')
    expect(await page.locator('a[href*="evil.example"]').count()).toBe(0)
    expect(page.url()).toBe(`${daemon.url}/ui/`)
  })
})
