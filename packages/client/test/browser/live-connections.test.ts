import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest'
import { CuttingProxy } from '../../../../conformance/test/cutting-proxy.ts'
import { ClientPages, type InPage, type Where } from './client-page.ts'

const patience = { timeout: 40_000 }
let pages: ClientPages
beforeAll(async () => {
  pages = await ClientPages.open('allowed')
})
afterAll(() => pages?.close())

const log = (messages: readonly string[]) =>
  pages.daemon.call('POST', '/v1/events', {
    events: messages.map((message) => ({ type: 'log.message', data: { level: 'info', message } })),
  })

async function openStreams(): Promise<number> {
  const text = await (await pages.daemon.fetch('/metrics')).text()
  return Number(/^vitrine_streams_open (\d+)$/m.exec(text)?.[1])
}

it('misses and repeats no event when its connection is lost repeatedly', async () => {
  const proxy = await CuttingProxy.to(pages.daemon.url)
  onTestFinished(() => proxy.close())
  await using opened = await pages.newPage()
  const { page } = opened
  await page.evaluate((where: Where) => {
    const scope = globalThis as unknown as InPage
    const client = scope.vitrine.connect({ url: where.url, token: where.token })
    const seen: { seq: number; message: unknown }[] = []
    scope.kept = { seen }
    void (async () => {
      for await (const item of client.journal(where.sandbox).tail()) {
        const message = item.type === 'log.message' && item.data.message
        seen.push({ seq: 'seq' in item ? item.seq : 0, message })
      }
    })()
  }, pages.where(proxy.url))
  const seen = () =>
    page.evaluate(() => (globalThis as unknown as InPage).kept.seen as { seq: number; message: unknown }[])
  const expected: string[] = []
  for (let round = 0; round < 4; round += 1) {
    const before = Array.from({ length: 50 }, (_, index) => `${round} before ${index}`)
    await log(before)
    await expect.poll(async () => (await seen()).at(-1)?.message, patience).toBe(before.at(-1))
    expect(proxy.cut()).toBeGreaterThan(0)
    // While the client is disconnected, and while it reconnects.
    const after = Array.from({ length: 50 }, (_, index) => `${round} after ${index}`)
    await log(after)
    expected.push(...before, ...after)
  }
  await expect.poll(async () => (await seen()).at(-1)?.message, patience).toBe(expected.at(-1))
  const all = await seen()
  expect(all.map(({ seq }) => seq)).toEqual(all.map((_, index) => index + 1))
  expect(all.map(({ message }) => message).filter((message) => message !== false)).toEqual(expected)
  expect(opened.complaints).toEqual([])
}, 180_000)

it('opens a terminal over a WebSocket, with input, resize and exit', async () => {
  await using opened = await pages.newPage()
  const result = await opened.page.evaluate(async (where: Where) => {
    const { vitrine } = globalThis as unknown as InPage
    const client = vitrine.connect({ url: where.url, token: where.token })
    const sandbox = await client.attach(where.sandbox)
    const { id } = await sandbox.spawn(
      'stty -echo; echo up; while read x; do stty size; echo "<$x>"; done; exit 4',
      {
        tty: { cols: 80, rows: 24 },
      },
    )
    const terminal = sandbox.openTerminal(id)
    const decoder = new TextDecoder()
    let text = ''
    const exit = new Promise((resolve) => terminal.onExit(resolve))
    terminal.onData((data) => {
      text += decoder.decode(data, { stream: true })
    })
    const shows = async (what: string) => {
      while (!text.includes(what)) await new Promise((resolve) => setTimeout(resolve, 20))
    }
    await terminal.ready
    await shows('up')
    terminal.resize(101, 33)
    terminal.send('wörld\n')
    await shows('<wörld>')
    terminal.send(new TextEncoder().encode('bytes\n'))
    await shows('<bytes>')
    terminal.send('\x04')
    const ended = await exit
    await client.close()
    return { text, ended }
  }, pages.where())
  expect(result.text).toContain('33 101')
  expect(result.ended).toEqual({ outcome: 'failed', exitCode: 4, signal: null })
  const [socket] = opened.sockets
  expect(socket?.url()).not.toContain(pages.where().token)
  await expect.poll(() => socket?.isClosed(), patience).toBe(true)
  expect(opened.complaints).toEqual([])
})

it('closes all its connections and ends no sandbox when it is closed', async () => {
  await using opened = await pages.newPage()
  const { page } = opened
  const id = await page.evaluate(async (where: Where) => {
    const scope = globalThis as unknown as InPage
    const client = scope.vitrine.connect({ url: where.url, token: where.token })
    const sandbox = await client.attach(where.sandbox)
    const process = await sandbox.spawn('sleep 600', { tty: { cols: 80, rows: 24 } })
    const settled: string[] = []
    const follow = (name: string, items: AsyncIterable<unknown>) =>
      (async () => {
        for await (const _ of items);
      })()
        .catch(() => undefined)
        .then(() => settled.push(name))
    const terminal = sandbox.openTerminal(process.id)
    scope.kept = { client, settled }
    void follow('tail', client.journal(where.sandbox).tail())
    void follow('watch', sandbox.files.watch())
    void follow('view', process.view())
    void sandbox.exec('sleep 600').then(
      () => settled.push('exec'),
      () => settled.push('exec'),
    )
    await terminal.ready
    return process.id
  }, pages.where())
  await expect.poll(openStreams, patience).toBeGreaterThanOrEqual(1)
  await expect.poll(() => opened.openRequests.length, patience).toBeGreaterThanOrEqual(4)
  await page.evaluate(() =>
    ((globalThis as unknown as InPage).kept.client as { close(): Promise<void> }).close(),
  )
  const settled = () => page.evaluate(() => (globalThis as unknown as InPage).kept.settled as string[])
  await expect.poll(async () => (await settled()).sort(), patience).toEqual(['exec', 'tail', 'view', 'watch'])
  await expect.poll(() => opened.openRequests, patience).toEqual([])
  await expect.poll(() => opened.sockets.map((socket) => socket.isClosed()), patience).toEqual([true])
  await expect.poll(openStreams, patience).toBe(0)
  expect(await pages.daemon.call('GET', `/v1/processes/${id}`)).toMatchObject({ state: 'running' })
  await pages.daemon.call('POST', `/v1/processes/${id}/kill`)
  expect(opened.complaints).toEqual([])
})
