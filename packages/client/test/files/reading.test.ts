import { expect, it } from 'vitest'
import { type Exchange, newScene } from '../fixture.ts'

const content = Buffer.from('abcdef')

/** Serves ranges like the daemon: an empty one is ignored, and one beyond the end is refused. */
function serve({ request, response, json }: Exchange): unknown {
  const found = /^bytes=(\d+)-(\d*)$/.exec(request.headers.range ?? '')
  if (found === null) return response.writeHead(200, { 'content-length': content.length }).end(content)
  const start = Number(found[1])
  const end = found[2] === '' ? content.length : Math.min(content.length, Number(found[2]) + 1)
  if (start >= content.length)
    return json({ code: 'range_invalid', status: 416, details: { size: content.length } }, 416)
  return response.writeHead(206, { 'content-length': end - start }).end(content.subarray(start, end))
}

it.each([
  [{}, 'abcdef'],
  [{ from: 0, to: 3 }, 'abc'],
  [{ from: 2 }, 'cdef'],
  [{ to: 2 }, 'ab'],
  [{ from: 2, to: 2 }, ''],
  [{ from: 0, to: 0 }, ''],
  [{ from: 6 }, ''],
  [{ from: 6, to: 6 }, ''],
  [{ from: 4, to: 100 }, 'ef'],
])('reads the range %o of a blob', async (range, text) => {
  const { client } = await newScene(serve)
  expect(await new Response(await client.blob('abc', range)).text()).toBe(text)
})

it('requests a range of a file in the query', async () => {
  const queries: string[] = []
  const { sandbox } = await newScene(({ query, response }) => {
    queries.push(String(query))
    response.end('')
  })
  for (const range of [{ from: 0, to: 0 }, { from: 2 }, { to: 3 }, {}])
    await new Response(await sandbox.files.read('file', range)).text()
  expect(queries).toEqual(['from=0&to=0&path=file', 'from=2&path=file', 'to=3&path=file', 'path=file'])
})

it('refuses invalid ranges', async () => {
  const { sandbox, client } = await newScene(serve)
  for (const range of [{ from: 7 }, { from: 7, to: 7 }])
    await expect(client.blob('abc', range)).rejects.toMatchObject({ code: 'range_invalid' })
  for (const range of [{ from: -1 }, { from: 1.5 }, { to: Number.NaN }])
    for (const read of [client.blob('abc', range), sandbox.files.read('file', range)])
      await expect(read).rejects.toMatchObject({ code: 'argument_invalid' })
  await expect(client.blob('abc', { from: 3, to: 2 })).rejects.toMatchObject({ code: 'argument_invalid' })
})

it('throws when the server sends all bytes instead of a range', async () => {
  const { client } = await newScene(({ response }) => response.end(content))
  await expect(client.blob('abc', { from: 1 })).rejects.toMatchObject({ code: 'connection_failed' })
})

it.each(['with', 'without'])('fails when the download fails, %s a content-length', async (how) => {
  const { sandbox } = await newScene(({ response }) => {
    response.writeHead(200, how === 'with' ? { 'content-length': 1_000 } : {})
    response.write('half', () => setTimeout(() => response.destroy(), 20))
  })
  const reader = (await sandbox.files.download('.')).getReader()
  expect((await reader.read()).done).toBe(false)
  await expect(reader.read()).rejects.toMatchObject({ code: 'connection_failed' })
})

it('throws when fewer bytes than the content-length arrive', async () => {
  const { sandbox } = await newScene(() => undefined, {
    fetch: async () => new Response('half', { headers: { 'content-length': '1000' } }),
  })
  await expect(new Response(await sandbox.persist()).text()).rejects.toMatchObject({
    code: 'connection_failed',
  })
})

it('ends when its signal aborts, and closes the connection when the stream is cancelled', async () => {
  let closed = 0
  const { sandbox } = await newScene(({ request, response }) => {
    if (request.method === 'DELETE') return response.writeHead(204).end()
    response.once('close', () => {
      closed += 1
    })
    return response.write('some')
  })
  const caller = new AbortController()
  const reader = (await sandbox.files.read('file', { signal: caller.signal })).getReader()
  await reader.read()
  caller.abort()
  await expect(reader.read()).rejects.toMatchObject({ code: 'cancelled' })
  await expect.poll(() => closed).toBe(1)
  await (await sandbox.files.read('file')).cancel()
  await expect.poll(() => closed).toBe(2)
})

it('reads files of any name, also of one that is not UTF-8', async () => {
  const urls: string[] = []
  const { sandbox } = await newScene(({ request, json }) => {
    urls.push(request.url ?? '')
    json({ exists: true })
  })
  await sandbox.files.exists('a b/\udcff?#', { user: 'é' })
  expect(urls).toEqual(['/v1/sandboxes/sbx_1/files/exists?user=%C3%A9&path=a%20b%2F%FF%3F%23'])
})

it('sends names that are not UTF-8 in JSON as well', async () => {
  let text = ''
  const { sandbox } = await newScene(async ({ response, body }) => {
    text = (await body()).toString()
    response.writeHead(204).end()
  })
  await sandbox.files.mkdir('\udcff', { parents: true })
  expect(JSON.parse(text)).toEqual({ path: '\udcff', parents: true })
})
