import { type Browser, type BrowserContext, chromium } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type TestDaemon, token } from '../daemon.ts'
import { openScene, patience, type Site } from '../preview/fixture.ts'

let daemon: TestDaemon
let site: Site
let browser: Browser
beforeAll(async () => {
  ;({ daemon, site } = await openScene('none'))
  // Chromium's own sandbox does not start for root.
  browser = await chromium.launch({ executablePath: '/usr/bin/chromium', args: ['--no-sandbox'] })
})
afterAll(async () => {
  await browser?.close()
  await daemon?.close()
})

/** The attacks of a page, as source text: code that runs in a page is not type-checked here. */
const attempts = (url: string) => `(async () => {
  const attempt = async (run) => {
    try {
      return 'got ' + (await run())
    } catch {
      return 'nothing'
    }
  }
  return {
    origin: document.title,
    storage: await attempt(() => sessionStorage.length + localStorage.length),
    cookies: await attempt(() => document.cookie),
    health: await attempt(async () => (await fetch('${url}/v1/health')).status),
    page: await attempt(async () => (await fetch('${url}/ui/')).status),
    worker: await attempt(() => navigator.serviceWorker.register('/worker.js', { scope: '/' })),
  }
})()`

/** The results of a page's requests to the daemon. */
async function tryFetch(context: BrowserContext, address: string): Promise<unknown> {
  const page = await context.newPage()
  await page.goto(`${address}grabby`)
  await expect.poll(() => page.title(), patience).not.toBe('')
  return page.evaluate(attempts(daemon.url))
}

it('a page by path has an opaque origin, no storage, no cookies and no access to the daemon', async () => {
  await using context = await browser.newContext()
  await context.addCookies([{ name: 'of-another-program', value: '1', url: daemon.url }])
  const seen = await tryFetch(context, `${daemon.url}${site.path}`)
  expect(seen).toEqual({
    origin: 'null',
    storage: 'nothing',
    cookies: 'nothing',
    health: 'nothing',
    page: 'nothing',
    worker: 'nothing',
  })
  expect((await context.cookies()).map(({ name }) => name)).toEqual(['of-another-program'])
})

it('a page by host has its own origin, and no access to the daemon', async () => {
  await using context = await browser.newContext()
  const seen = await tryFetch(context, site.url)
  expect(seen).toMatchObject({
    origin: new URL(site.url).origin,
    health: 'nothing',
    page: 'nothing',
  })
  const names = (await context.cookies(daemon.url)).map(({ name }) => name)
  expect(names).toEqual([])
})

it.each(['path', 'host'] as const)(
  'a page by %s does not sign out the user of the Inspector',
  async (form) => {
    await using context = await browser.newContext()
    const inside = await context.newPage()
    await inside.goto(`${daemon.url}/ui/#token=${token}`)
    await inside.locator('.row', { hasText: 'sandbox.ready' }).waitFor()
    await tryFetch(context, form === 'path' ? `${daemon.url}${site.path}` : site.url)
    await inside.reload()
    await inside.locator('.row', { hasText: 'sandbox.ready' }).waitFor()
    expect(inside.url()).toBe(`${daemon.url}/ui/`)
  },
)

it.each(['path', 'host'] as const)(
  'a page by %s connects to its own server over a WebSocket',
  async (form) => {
    await using context = await browser.newContext()
    const page = await context.newPage()
    const address = form === 'path' ? `${daemon.url}${site.path}` : site.url
    await page.goto(`${address}grabby`)
    const result = await page.evaluate(
      (url) =>
        new Promise<string>((resolve) => {
          const socket = new WebSocket(url)
          socket.onmessage = ({ data }) => {
            const { name, hello } = JSON.parse(data)
            if (name === 'site') socket.send('{"hello":"there"}')
            else {
              socket.close()
              resolve(hello)
            }
          }
          socket.onclose = ({ code }) => resolve(`closed ${code}`)
        }),
      `${address.replace('http', 'ws')}live`,
    )
    expect(result).toBe('there')
  },
)
