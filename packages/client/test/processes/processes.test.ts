import { expect, it } from 'vitest'
import { newScene } from '../fixture.ts'
import { openStream, writeAndCut } from '../journal/event-server.ts'

const exit = { outcome: 'failed', exitCode: 7, signal: null }
const info = {
  id: 'proc_1',
  argv: ['sh', '-c', 'exit 7'],
  pid: 42,
  tty: false,
  startedAt: '2026-01-01T00:00:00.000Z',
  state: 'running',
  restarts: 0,
}
const told = { ...info, command: 'sh', args: [], interactive: false, status: 'running', createdAtMs: 0 }
const ended = { ...told, state: 'exited', exit }

it('spawns a string in a shell and an array without one', async () => {
  const bodies: unknown[] = []
  const { sandbox } = await newScene(async ({ body, json }) => {
    bodies.push(JSON.parse((await body()).toString()))
    json(told)
  })
  expect(await sandbox.spawn('exit 7', { owner: 'me' })).toMatchObject({ id: 'proc_1', pid: 42 })
  await sandbox.spawn('exit 7', { shell: 'bash', tty: { cols: 80, rows: 24 } })
  await sandbox.spawn(['ls'], { shell: 'bash', restart: 'always' })
  expect(bodies).toEqual([
    { command: 'exit 7', shell: true, owner: 'me' },
    { command: 'exit 7', shell: 'bash', tty: { cols: 80, rows: 24 } },
    { command: ['ls'], restart: 'always' },
  ])
})

it('waits for the exit only on access, once, and over failing connections', async () => {
  let asked = 0
  const { sandbox, lines } = await newScene(({ request, query, json, problem }) => {
    if (request.method === 'POST') return json(told)
    asked += 1
    expect(query.get('wait')).toBe('25000')
    if (asked === 1) return void request.socket.destroy()
    if (asked === 2) return problem('server_closing', 503)
    return json(asked < 5 ? { ...told, state: asked === 3 ? 'waiting' : 'running', exit } : ended)
  })
  const process = await sandbox.spawn('exit 7')
  expect(lines).toHaveLength(1)
  expect(await Promise.all([process.exit, process.exit])).toEqual([exit, exit])
  expect(asked).toBe(5)
})

it('throws for an unknown process', async () => {
  const { sandbox } = await newScene(({ problem }) => problem('not_found', 404))
  for (const method of ['get', 'attach', 'remove', 'kill', 'stop'] as const)
    await expect(sandbox.processes[method]('proc_none')).rejects.toMatchObject({ code: 'not_found' })
})

it('returns process infos without sandbox-agent’s fields', async () => {
  const { sandbox } = await newScene(({ json }) => json({ processes: [told] }))
  expect(await sandbox.processes.list()).toEqual([info])
})

it('stops and kills processes, and waits for slow exits', async () => {
  const { sandbox, lines } = await newScene(({ request, query, json }) => {
    if (query.get('waitMs') === '5') return json(told)
    return json(request.url?.endsWith('kill') || request.method === 'GET' ? ended : told)
  })
  expect(await sandbox.processes.kill('proc_1')).toEqual(exit)
  expect(await sandbox.processes.stop('proc_1', { graceMs: 5 })).toEqual(exit)
  expect(lines.map((line) => line.replace('/v1/sandboxes/sbx_1/processes', ''))).toEqual([
    'POST /proc_1/kill',
    'POST /proc_1/stop',
    'GET /proc_1',
  ])
})

it('kills a process when its signal aborts', async () => {
  const { sandbox, lines } = await newScene(({ json }) => json(told))
  const caller = new AbortController()
  await sandbox.spawn('sleep 1000', { signal: caller.signal })
  caller.abort()
  await expect.poll(() => lines.at(1)).toBe('POST /v1/sandboxes/sbx_1/processes/proc_1/kill')
  await expect(sandbox.spawn('sleep 1', { signal: caller.signal })).rejects.toMatchObject({
    code: 'cancelled',
  })
})

it('sends input, end of input, resizes and signals', async () => {
  const seen: unknown[] = []
  const { sandbox } = await newScene(async ({ line, body, json, response }) => {
    if (line.startsWith('GET')) return json(told)
    seen.push([line.split('/').at(-1), JSON.parse((await body()).toString())])
    return line.endsWith('signal') ? response.writeHead(204).end() : json({})
  })
  const process = await sandbox.processes.attach('proc_1')
  await process.input('é')
  await process.input(new Uint8Array([255]))
  await process.end()
  await process.resize(80, 24)
  await process.signal('SIGUSR1')
  expect(seen).toEqual([
    ['input', { data: 'é' }],
    ['input', { data: '/w==', encoding: 'base64' }],
    ['input', { data: '', end: true }],
    ['resize', { cols: 80, rows: 24 }],
    ['signal', { signal: 'SIGUSR1' }],
  ])
  await expect(process.resize(0, 24)).rejects.toMatchObject({ code: 'argument_invalid' })
})

const output = (stream: string, text: string) => `data: ${JSON.stringify({ stream, data: btoa(text) })}\n\n`

it('views output to its end', async () => {
  const { sandbox } = await newScene((exchange) => {
    if (!exchange.line.endsWith('view')) return exchange.json(told)
    const stream = openStream(exchange)
    stream.write(`event: heartbeat\ndata: {}\n\n${output('stdout', 'one')}`)
    return stream.end(`${output('terminal', 'two')}event: end\ndata: {"reason":"complete"}\n\n`)
  })
  const process = await sandbox.processes.attach('proc_1')
  const seen: unknown[] = []
  for await (const { stream, data } of process.view()) seen.push([stream, new TextDecoder().decode(data)])
  expect(seen).toEqual([
    ['stdout', 'one'],
    ['terminal', 'two'],
  ])
})

it.each([
  ['that is cut', ''],
  ['that ends with the server', 'event: end\ndata: {"reason":"closing"}\n\n'],
])('throws when a view ends %s, because the process goes on', async (_name, last) => {
  const { sandbox } = await newScene((exchange) => {
    if (!exchange.line.endsWith('view')) return exchange.json(told)
    return writeAndCut(openStream(exchange), output('stdout', 'one') + last)
  })
  const view = (await sandbox.processes.attach('proc_1')).view()
  expect((await view.next()).done).toBe(false)
  await expect(view.next()).rejects.toMatchObject({ code: 'connection_failed' })
})

it('reads logs at once and as a stream', async () => {
  const time = '2026-01-01T00:00:00.500Z'
  const entry = { sequence: 1, timestampMs: Date.parse(time), stream: 'pty', data: btoa('x'), offset: 3 }
  const queries: string[] = []
  const { sandbox } = await newScene((exchange) => {
    queries.push(String(exchange.query))
    if (exchange.request.headers.accept !== 'text/event-stream') return exchange.json({ entries: [entry] })
    return openStream(exchange).end(`data: ${JSON.stringify({ ...entry, skipped: 2 })}\n\nevent: end\n\n`)
  })
  const chunk = { time, stream: 'terminal', offset: 3, data: new Uint8Array([120]) }
  expect(await sandbox.processes.logs('proc_1', { tail: 3 })).toEqual([chunk])
  const followed: unknown[] = []
  for await (const one of sandbox.processes.follow('proc_1', { since: 'c1' })) followed.push(one)
  expect(followed).toEqual([{ ...chunk, skipped: 2 }])
  expect(queries).toEqual(['tail=3', 'since=c1&follow=true'])
})
