import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { version } from '../../src/demo/initialize-response.ts'
import { DemoProcesses, main, nodeFlags, type StartOptions } from './start.ts'

const stage = new DemoProcesses()
afterEach(() => stage.clear())

const isAlive = (pid: number) => {
  try {
    // A zombie does not count as alive.
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'))
  } catch {
    return false
  }
}

async function eventually(is: () => boolean): Promise<void> {
  while (!is()) await new Promise((resolve) => setTimeout(resolve, 5))
}

describe('cancel', () => {
  const cases: [prompt: string, options: StartOptions][] = [
    ['/stall', {}],
    ['/wait 600000', {}],
    ['/run sleep 600', {}],
    ['/ask edit', { permission: 'hang' }],
    ['/permission-first', { permission: 'hang' }],
    ['/subagent', { permission: 'hang' }],
    ['/stream 1000000', { env: { VITRINE_DEMO_PACE: '1' } }],
    ['/flood 100000000 1000', {}],
    ['Hello', { env: { VITRINE_DEMO_PACE: '1000' } }],
    [
      '/question',
      {
        capabilities: { elicitation: { form: {} } },
        with: (app) => app.onRequest('elicitation/create', () => new Promise<never>(() => {})),
      },
    ],
    ['/unknown-request slow', { with: (app) => app.onRequest('*', () => new Promise<never>(() => {})) }],
  ]

  it.each(cases)('ends %s at once on a cancel and leaves no tool call open', async (prompt, options) => {
    const demo = await stage.start(options)
    const id = await demo.session(stage.folder())
    const answering = demo.prompt(id, `/say here\n${prompt}`.replace('/say here\nHello', 'Hello'))
    await demo.until(id, ({ sessionUpdate }) => /agent|tool/.test(sessionUpdate))
    await demo.agent.notify('session/cancel', { sessionId: id })
    expect((await answering).stopReason).toBe('cancelled')
    const last = new Map<string, unknown>()
    for (const update of demo.updates(id)) {
      if (update.sessionUpdate === 'tool_call' || update.sessionUpdate === 'tool_call_update')
        last.set(update.toolCallId, update.status)
    }
    for (const status of last.values()) expect(status).toBe('failed')
    expect((await demo.prompt(id, '/say again')).stopReason).toBe('end_turn')
  })

  it('kills the command and its child processes on a cancel', async () => {
    const demo = await stage.start()
    const cwd = stage.folder()
    const id = await demo.session(cwd)
    const answering = demo.prompt(id, '/run sleep 600 & echo $! > pid; wait')
    await eventually(() => existsSync(join(cwd, 'pid')) && readFileSync(join(cwd, 'pid'), 'utf8') !== '')
    await demo.agent.notify('session/cancel', { sessionId: id })
    await answering
    const pid = Number(readFileSync(join(cwd, 'pid'), 'utf8'))
    await eventually(() => !isAlive(pid))
  })

  it('releases the terminal of the client on a cancel', async () => {
    const released: string[] = []
    const demo = await stage.start({
      capabilities: { terminal: true },
      with: (app) =>
        app
          .onRequest('terminal/create', () => ({ terminalId: 'T1' }))
          .onRequest('terminal/wait_for_exit', () => new Promise<never>(() => {}))
          .onRequest('terminal/release', ({ params }) => {
            released.push(params.terminalId)
          }),
    })
    const id = await demo.session(stage.folder())
    const answering = demo.prompt(id, '/run sleep 600')
    await demo.until(
      id,
      (update) => update.sessionUpdate === 'tool_call_update' && update.status === 'in_progress',
    )
    await demo.agent.notify('session/cancel', { sessionId: id })
    expect((await answering).stopReason).toBe('cancelled')
    await eventually(() => released.includes('T1'))
  })

  it('ends the turn when the prompt request is cancelled', async () => {
    const demo = await stage.start()
    const id = await demo.session(stage.folder())
    const cancelling = new AbortController()
    const answering = demo.agent.request(
      'session/prompt',
      { sessionId: id, prompt: [{ type: 'text', text: '/say here\n/stall' }] },
      { cancellationSignal: cancelling.signal },
    )
    await demo.until(id, ({ sessionUpdate }) => sessionUpdate === 'agent_message_chunk')
    cancelling.abort()
    expect((await answering).stopReason).toBe('cancelled')
  })

  it('ignores a cancel of /stall-hard while other sessions continue', async () => {
    const demo = await stage.start()
    const id = await demo.session(stage.folder())
    let ended = false
    demo.prompt(id, '/say here\n/stall-hard').then(
      () => (ended = true),
      () => {},
    )
    await demo.until(id, ({ sessionUpdate }) => sessionUpdate === 'agent_message_chunk')
    await demo.agent.notify('session/cancel', { sessionId: id })
    await expect(demo.prompt(id, '/say hm')).rejects.toMatchObject({ code: -32600 })
    const other = await demo.session(stage.folder())
    expect((await demo.prompt(other, '/say fine')).stopReason).toBe('end_turn')
    expect(ended).toBe(false)
  })
})

describe('exit', () => {
  it.each([
    ['/crash', { code: 1, signal: null }],
    ['/crash 42', { code: 42, signal: null }],
    ['/crash-signal', { code: null, signal: 'SIGKILL' }],
    ['/crash-signal SIGTERM', { code: null, signal: 'SIGTERM' }],
    ['/half', { code: 1, signal: null }],
  ])('exits as %s requests, after it has sent all messages', async (prompt, end) => {
    const demo = await stage.start()
    const id = await demo.session(stage.folder())
    await expect(demo.prompt(id, `/say last words\n${prompt}`)).rejects.toThrow()
    expect(await demo.exit()).toEqual(end)
    expect(demo.text(id)).toBe('last words')
    expect(demo.raw.toString().endsWith('\n')).toBe(prompt !== '/half')
  })

  it('exits at the end of stdin, even during a turn, and kills its commands', async () => {
    const demo = await stage.start()
    const cwd = stage.folder()
    const id = await demo.session(cwd)
    demo.prompt(id, '/run echo $$ > pid; sleep 600').catch(() => {})
    await eventually(() => existsSync(join(cwd, 'pid')) && readFileSync(join(cwd, 'pid'), 'utf8') !== '')
    const pid = Number(readFileSync(join(cwd, 'pid'), 'utf8'))
    demo.child.stdin.end()
    expect(await demo.exit()).toEqual({ code: 0, signal: null })
    await eventually(() => !isAlive(pid))
  })

  it('exits on SIGTERM', async () => {
    const demo = await stage.start()
    demo.child.kill('SIGTERM')
    expect(await demo.exit()).toEqual({ code: null, signal: 'SIGTERM' })
  })

  it('exits when its stdout is closed', async () => {
    const demo = await stage.start()
    const id = await demo.session(stage.folder())
    demo.child.stdout.destroy()
    demo.prompt(id, '/flood 10000').catch(() => {})
    expect((await demo.exit()).code).toBe(0)
  })

  it('keeps running when it is set to ignore the end of stdin and SIGTERM', async () => {
    const demo = await stage.start({ env: { VITRINE_DEMO_IGNORE_EOF: '1' } })
    const id = await demo.session(stage.folder())
    demo.child.kill('SIGTERM')
    await demo.prompt(id, '/say still here')
    demo.child.stdin.end()
    await new Promise((resolve) => setTimeout(resolve, 300))
    expect(demo.child.exitCode).toBeNull()
    expect(demo.child.signalCode).toBeNull()
    demo.child.kill('SIGKILL')
    expect((await demo.exit()).signal).toBe('SIGKILL')
  })
})

it('prints only its version for --version', () => {
  expect(execFileSync(process.execPath, [...nodeFlags, main, '--version'], { encoding: 'utf8' })).toBe(
    `${version}\n`,
  )
})

it('starts slowly when VITRINE_DEMO_SLOW_START_MS is set', async () => {
  const child = stage.spawn({ env: { VITRINE_DEMO_SLOW_START_MS: '600000' } })
  child.stdin.write('{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1}}\n')
  const first = await Promise.race([
    once(child.stdout, 'data').then(() => 'answer'),
    new Promise((resolve) => setTimeout(resolve, 500, 'nothing')),
  ])
  expect(first).toBe('nothing')
})
