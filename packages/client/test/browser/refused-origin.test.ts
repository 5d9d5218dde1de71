import { afterAll, beforeAll, expect, it } from 'vitest'
import { ClientPages, type InPage, type Where } from './client-page.ts'

let pages: ClientPages
beforeAll(async () => {
  pages = await ClientPages.open('not allowed')
})
afterAll(() => pages?.close())

const countEvents = async () =>
  (await pages.daemon.call('GET', '/v1/events?scope=all&limit=1000')).events.length

it('changes and reads nothing from a page of a refused origin, even with a valid token', async () => {
  const before = await countEvents()
  await using opened = await pages.newPage()
  const codes = await opened.page.evaluate(async (where: Where) => {
    const { vitrine } = globalThis as unknown as InPage
    const client = vitrine.connect({ url: where.url, token: where.token })
    const code = (promise: Promise<unknown>) =>
      promise.then(
        () => 'responded',
        (error: { code?: string }) => error.code,
      )
    return [
      await code(client.health()),
      await code(client.create({ local: { isolation: 'none' } })),
      await code(client.attach(where.sandbox)),
      await code(client.list()),
      await code(client.destroy(where.sandbox)),
    ]
  }, pages.where())
  expect(codes).toEqual(Array.from({ length: 5 }, () => 'connection_failed'))
  expect(await countEvents()).toBe(before)
})

it('runs nothing for the requests that a page can send without a preflight', async () => {
  const before = await countEvents()
  await using opened = await pages.newPage()
  const results = await opened.page.evaluate(async ({ url, token }: Where) => {
    const seen: string[] = []
    for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data']) {
      const init: RequestInit = {
        method: 'POST',
        mode: 'no-cors',
        credentials: 'include',
        body: '{"command":"touch owned"}',
        headers: { 'content-type': type },
      }
      for (const query of ['', `?access_token=${token}`])
        seen.push(
          await fetch(`${url}/v1/exec${query}`, init).then(
            ({ status }) => `responded ${status}`,
            () => 'nothing',
          ),
        )
    }
    return seen
  }, pages.where())
  // It was sent, and the page cannot see that it got a response.
  expect(results).toEqual(Array.from({ length: 6 }, () => 'nothing'))
  expect(await countEvents()).toBe(before)
  expect((await pages.daemon.call('GET', '/v1/files/exists?path=owned')).exists).toBe(false)
})

it('opens no terminal from a refused origin, even with a valid token', async () => {
  const { id } = await pages.daemon.call('POST', '/v1/processes', { command: 'cat', tty: true })
  await using opened = await pages.newPage()
  const result = await opened.page.evaluate(
    ({ where, path }) =>
      new Promise<string>((resolve) => {
        const socket = new WebSocket(`${where.url.replace('http', 'ws')}${path}`, [
          'vitrine',
          `vitrine.token.${where.token}`,
        ])
        socket.onopen = () => resolve('open')
        socket.onclose = ({ code }) => resolve(`closed ${code}`)
      }),
    { where: pages.where(), path: `/v1/processes/${id}/terminal/ws` },
  )
  expect(result).toBe('closed 1006')
  await pages.daemon.call('POST', `/v1/processes/${id}/kill`)
})

it('refuses to be framed by another page', async () => {
  await using opened = await pages.newPage()
  const { page } = opened
  await page.setContent(`<iframe src="${pages.daemon.url}/ui/"></iframe>`)
  await expect.poll(() => page.frames().length).toBe(2)
  const shown = page.frames().filter((frame) => frame.url().startsWith(pages.daemon.url))
  expect(shown).toEqual([])
})
