import { afterAll, beforeAll, expect, it } from 'vitest'
import { ClientPages, type InPage, type OpenPage, type Where } from './client-page.ts'

const patience = { timeout: 30_000 }
let pages: ClientPages
let sandbox: string
beforeAll(async () => {
  pages = await ClientPages.open('allowed')
  sandbox = pages.daemon.sandbox
})
afterAll(() => pages?.close())

const clean = (opened: OpenPage) => expect(opened.complaints).toEqual([])

it('connects, reads the daemon’s state, creates a sandbox, runs a command and destroys the sandbox', async () => {
  await using opened = await pages.newPage()
  const result = await opened.page.evaluate(async ({ url, token }: Where) => {
    const { vitrine } = globalThis as unknown as InPage
    const client = vitrine.connect({ url, token })
    const { status } = await client.health()
    const sandbox = await client.create({ labels: { from: 'a page' }, local: { isolation: 'none' } })
    const { stdout, exitCode } = await sandbox.exec('cat; exit 5', { stdin: 'héllo' })
    const listed = (await client.list()).some(({ id }) => id === sandbox.id)
    await client.destroy(sandbox.id)
    await client.close()
    return { status, stdout, exitCode, listed }
  }, pages.where())
  expect(result).toEqual({ status: 'ok', stdout: 'héllo', exitCode: 5, listed: true })
  clean(opened)
})

it('follows the output of a running process and gets its exit', async () => {
  await using opened = await pages.newPage()
  const result = await opened.page.evaluate(async (where: Where) => {
    const { vitrine } = globalThis as unknown as InPage
    const client = vitrine.connect({ url: where.url, token: where.token })
    const sandbox = await client.attach(where.sandbox)
    const process = await sandbox.spawn('echo ready; while read line; do echo "got $line"; done; exit 7')
    const decoder = new TextDecoder()
    const seen: string[] = []
    let text = ''
    let sent = 0
    for await (const { data } of process.view()) {
      text += decoder.decode(data, { stream: true })
      seen.push(text)
      // Each output is seen before the next input is sent: it is live.
      if (text.endsWith('\n') && sent < 3) {
        sent += 1
        await process.input(`${sent}\n`)
      } else if (text.endsWith('got 3\n')) await process.end()
    }
    const exit = await process.exit
    const logs = (await sandbox.processes.logs(process.id)).map(({ data }) => decoder.decode(data)).join('')
    await client.close()
    return { text, parts: seen.length, exit, logs }
  }, pages.where())
  const text = 'ready\ngot 1\ngot 2\ngot 3\n'
  expect(result).toMatchObject({ text, logs: text, exit: { outcome: 'failed', exitCode: 7, signal: null } })
  expect(result.parts).toBeGreaterThanOrEqual(4)
  clean(opened)
})

it('writes and reads files as text, as bytes and as streams with progress', async () => {
  await using opened = await pages.newPage()
  const result = await opened.page.evaluate(async (where: Where) => {
    const { vitrine } = globalThis as unknown as InPage
    const client = vitrine.connect({ url: where.url, token: where.token })
    const { files } = await client.attach(where.sandbox)
    await files.write('näme.txt', 'wörds')
    const words = await new Response(await files.read('näme.txt')).text()
    const bytes = 8 * 1024 * 1024
    const part = new Uint8Array(65_536).map((_, index) => index % 251)
    let parts = 0
    const source = new ReadableStream<Uint8Array>({
      pull(controller) {
        if (parts++ < bytes / part.length) controller.enqueue(part)
        else controller.close()
      },
    })
    const { size } = await files.write('large.bin', source)
    const progress: number[] = []
    let isSame = true
    let got = 0
    for await (const piece of (await files.read('large.bin')) as unknown as AsyncIterable<Uint8Array>) {
      for (const [at, byte] of piece.entries()) isSame &&= byte === ((got + at) % 65_536) % 251
      got += piece.length
      progress.push(got)
    }
    const range = await new Response(await files.read('large.bin', { from: 65_536, to: 65_540 })).bytes()
    await client.close()
    return { words, size, got, isSame, steps: progress.length, range: [...range] }
  }, pages.where())
  const size = 8 * 1024 * 1024
  expect(result).toMatchObject({ words: 'wörds', size, got: size, isSame: true, range: [0, 1, 2, 3] })
  expect(result.steps).toBeGreaterThan(1)
  clean(opened)
})

it('watches files from the moment of the call', async () => {
  await using opened = await pages.newPage()
  const { page } = opened
  await page.evaluate(async (where: Where) => {
    const scope = globalThis as unknown as InPage
    const client = scope.vitrine.connect({ url: where.url, token: where.token })
    const { files } = await client.attach(where.sandbox)
    const seen: string[] = []
    scope.kept = { seen, client }
    void (async () => {
      for await (const { type, data } of files.watch({ ignore: ['*.log'] })) seen.push(`${type} ${data.path}`)
    })()
    // Another client writes until the first event arrives: from then on the watch is active.
    for (let count = 0; seen.length === 0; count += 1) await files.write(`probe-${count}`, 'x')
  }, pages.where())
  const seen = () => page.evaluate(() => (globalThis as unknown as InPage).kept.seen as string[])
  await pages.daemon.call('POST', '/v1/exec', { command: 'echo a > left.log; echo b > watched.txt' })
  await expect.poll(seen, patience).toContain('file.created watched.txt')
  await pages.daemon.call('POST', '/v1/exec', { command: 'rm watched.txt' })
  await expect.poll(seen, patience).toContain('file.deleted watched.txt')
  expect((await seen()).filter((line) => line.includes('left.log'))).toEqual([])
  clean(opened)
})

it('throws errors with a code and a hint for every kind of failure', async () => {
  await using opened = await pages.newPage()
  const result = await opened.page.evaluate(async (where: Where) => {
    const { vitrine } = globalThis as unknown as InPage
    const client = vitrine.connect({ url: where.url, token: where.token })
    const sandbox = await client.attach(where.sandbox)
    const failure = async (promise: Promise<unknown>) => {
      const error = await promise.then(
        () => undefined,
        (thrown) => thrown,
      )
      return {
        name: error?.name,
        code: error?.code,
        hint: typeof error?.hint,
        isError: error instanceof Error,
      }
    }
    const stranger = vitrine.connect({ url: where.url, token: 'wrong-token-0000' })
    const nowhere = vitrine.connect({ url: 'http://127.0.0.1:1', token: where.token })
    const failures = [
      await failure(sandbox.files.read('not-there')),
      await failure(client.attach('no-such-sandbox')),
      await failure(sandbox.exec(['no-such-program-here'])),
      await failure(stranger.health()),
      await failure(nowhere.health()),
    ]
    await client.close()
    failures.push(await failure(client.health()))
    return failures
  }, pages.where())
  const codes = result.map(({ code }) => code)
  expect(codes.slice(0, 2)).toEqual(['file_not_found', 'not_found'])
  expect(codes[2]).toMatch(/^command_not_/)
  expect(codes.slice(3)).toEqual(['token_invalid', 'connection_failed', expect.any(String)])
  for (const one of result) expect(one).toMatchObject({ name: 'VitrineError', hint: 'string', isError: true })
  clean(opened)
})

it('cancels a long command and gets its outcome', async () => {
  await using opened = await pages.newPage()
  const result = await opened.page.evaluate(async (where: Where) => {
    const { vitrine } = globalThis as unknown as InPage
    const client = vitrine.connect({ url: where.url, token: where.token })
    const sandbox = await client.attach(where.sandbox)
    const caller = new AbortController()
    const running = sandbox.exec('echo so far; touch in-page-runs; sleep 600', { signal: caller.signal })
    while (!(await sandbox.files.exists('in-page-runs')))
      await new Promise((resolve) => setTimeout(resolve, 20))
    caller.abort()
    const { outcome, stdout, exitCode } = await running
    const early = await sandbox.exec('touch too-early', { signal: AbortSignal.abort() })
    const made = await sandbox.files.exists('too-early')
    await client.close()
    return { outcome, stdout, exitCode, early: early.outcome, made }
  }, pages.where())
  expect(result).toEqual({
    outcome: 'cancelled',
    stdout: 'so far\n',
    exitCode: null,
    early: 'cancelled',
    made: false,
  })
  const { events } = await pages.daemon.call('GET', '/v1/events?types=operation.finished&limit=1000')
  const cancelled = events.filter(
    ({ data, sandbox: of }: { data: { op: string; outcome: string }; sandbox: string }) =>
      data.op === 'exec' && data.outcome === 'cancelled' && (of === undefined || of === sandbox),
  )
  expect(cancelled).toHaveLength(2)
  clean(opened)
})
