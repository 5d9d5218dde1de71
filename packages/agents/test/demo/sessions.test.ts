import { mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, expect, it } from 'vitest'
import { type DemoProcess, DemoProcesses } from './start.ts'

const stage = new DemoProcesses()
afterEach(() => stage.clear())

const load = (demo: DemoProcess, sessionId: string, cwd: string) =>
  demo.agent.request('session/load', { sessionId, cwd, mcpServers: [] })

it('reports its capabilities', async () => {
  const { initialized } = await stage.start()
  expect(initialized).toMatchObject({
    protocolVersion: 1,
    agentInfo: { name: 'vitrine-demo' },
    agentCapabilities: {
      loadSession: true,
      promptCapabilities: { image: true, audio: true, embeddedContext: true },
      mcpCapabilities: { http: true },
      sessionCapabilities: { list: {}, resume: {}, fork: {}, close: {} },
    },
  })
})

it('loads a session in a new process with its history, and continues it', async () => {
  const home = stage.folder()
  const cwd = stage.folder()
  const first = await stage.start({ home })
  const id = await first.session(cwd)
  await first.agent.request('session/set_mode', { sessionId: id, modeId: 'auto' })
  await first.prompt(id, 'Hello')
  first.child.kill('SIGKILL')
  await first.exit()

  const second = await stage.start({ home })
  const state = await load(second, id, cwd)
  expect(state.modes?.currentModeId).toBe('auto')
  const kinds = second.updates(id).map(({ sessionUpdate }) => sessionUpdate)
  expect(kinds).toEqual([
    'user_message_chunk',
    'agent_thought_chunk',
    'plan',
    'agent_message_chunk',
    'tool_call',
    'tool_call',
    'tool_call',
    'agent_message_chunk',
    'session_info_update',
  ])
  expect(second.text(id)).toBe(first.text(id))
  expect(second.of(id, 'tool_call').map(({ status }) => status)).toEqual([
    'completed',
    'completed',
    'completed',
  ])
  expect((await second.prompt(id, '/say on')).stopReason).toBe('end_turn')
})

it('stores the prompt of a turn in which it crashed', async () => {
  const home = stage.folder()
  const cwd = stage.folder()
  const first = await stage.start({ home })
  const id = await first.session(cwd)
  await expect(first.prompt(id, '/crash')).rejects.toThrow()
  const second = await stage.start({ home })
  await load(second, id, cwd)
  expect(second.of(id, 'user_message_chunk')[0]?.content).toEqual({ type: 'text', text: '/crash' })
})

it('resumes a session without a replay', async () => {
  const home = stage.folder()
  const cwd = stage.folder()
  const first = await stage.start({ home })
  const id = await first.session(cwd)
  await first.prompt(id, '/say hello')
  const second = await stage.start({ home })
  await second.agent.request('session/resume', { sessionId: id, cwd })
  await second.prompt(id, '/say on')
  expect(second.text(id)).toBe('on')
})

it('forks a session into an independent copy with the same history', async () => {
  const demo = await stage.start()
  const cwd = stage.folder()
  const id = await demo.session(cwd)
  await demo.prompt(id, '/say shared')
  const { sessionId: copy } = await demo.agent.request('session/fork', { sessionId: id, cwd })
  await demo.prompt(copy, '/say apart')
  demo.notifications.length = 0
  await load(demo, copy, cwd)
  await load(demo, id, cwd)
  expect(demo.text(copy)).toBe('sharedapart')
  expect(demo.text(id)).toBe('shared')
})

it('lists sessions of this and earlier processes, newest first, in pages', async () => {
  const home = stage.folder()
  const cwd = stage.folder()
  const first = await stage.start({ home })
  const old = await first.session(cwd)
  await first.prompt(old, '/title Old')
  const demo = await stage.start({ home })
  for (let n = 0; n < 120; n++) await demo.session(n < 20 ? stage.folder() : cwd)
  const one = await demo.agent.request('session/list', { cwd })
  expect(one.sessions).toHaveLength(100)
  const two = await demo.agent.request('session/list', { cwd, cursor: one.nextCursor ?? null })
  expect(two.sessions).toMatchObject([{ sessionId: old, title: 'Old', cwd }])
  expect(two.nextCursor ?? null).toBeNull()
  expect((await demo.agent.request('session/list', {})).sessions).toHaveLength(100)
  await expect(demo.agent.request('session/list', { cursor: 'x' })).rejects.toMatchObject({ code: -32602 })
})

it('closes a session by cancelling its turn and rejecting further prompts', async () => {
  const demo = await stage.start()
  const id = await demo.session(stage.folder())
  const answering = demo.prompt(id, '/say here\n/stall')
  await demo.until(id, ({ sessionUpdate }) => sessionUpdate === 'agent_message_chunk')
  await demo.agent.request('session/close', { sessionId: id })
  expect((await answering).stopReason).toBe('cancelled')
  await expect(demo.prompt(id, '/say no')).rejects.toMatchObject({ code: -32002 })
})

it('runs 200 sessions at once', async () => {
  const demo = await stage.start()
  const cwd = stage.folder()
  const ids = await Promise.all(Array.from({ length: 200 }, () => demo.session(cwd)))
  await Promise.all(ids.map((id, n) => demo.prompt(id, `/stream 5\n/say from ${n}`)))
  ids.forEach((id, n) => {
    expect(demo.text(id)).toMatch(new RegExp(`from ${n}$`))
  })
})

it('rejects unknown sessions and ids that lead out of its folder', async () => {
  const home = stage.folder()
  const demo = await stage.start({ home })
  const cwd = stage.folder()
  writeFileSync(join(home, 'x.json'), '{"id":"x","cwd":"/","history":[]}')
  for (const id of ['demo-0', '../../x', 'x']) {
    await expect(load(demo, id, cwd)).rejects.toMatchObject({ code: -32002 })
  }
  const folder = join(home, '.vitrine-demo/sessions')
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'demo-1.json'), '{"half')
  await expect(load(demo, 'demo-1', cwd)).rejects.toMatchObject({ code: -32002 })
  await expect(
    demo.agent.request('session/set_mode', { sessionId: await demo.session(cwd), modeId: 'nap' }),
  ).rejects.toMatchObject({ code: -32602 })
})

it('leaves no temporary file behind', async () => {
  const home = stage.folder()
  const demo = await stage.start({ home })
  const id = await demo.session(stage.folder())
  await demo.prompt(id, '/say hello')
  expect(readdirSync(join(home, '.vitrine-demo/sessions'))).toEqual([`${id}.json`])
})

it.each([undefined, '', '/proc/nowhere', '/dev/null'])('works without a writable HOME (%s)', async (home) => {
  const demo = await stage.start({ env: { HOME: home } })
  const cwd = stage.folder()
  const id = await demo.session(cwd)
  await demo.prompt(id, '/say hello')
  await load(demo, id, cwd)
  expect(demo.text(id)).toBe('hellohello')
})

it('offers neither load nor resume when VITRINE_DEMO_NO_LOAD is set', async () => {
  const demo = await stage.start({ env: { VITRINE_DEMO_NO_LOAD: '1' } })
  const cwd = stage.folder()
  const id = await demo.session(cwd)
  expect(demo.initialized.agentCapabilities?.loadSession).toBe(false)
  expect(demo.initialized.agentCapabilities?.sessionCapabilities?.resume ?? null).toBeNull()
  await expect(load(demo, id, cwd)).rejects.toMatchObject({ code: -32601 })
  await expect(demo.agent.request('session/resume', { sessionId: id, cwd })).rejects.toMatchObject({
    code: -32601,
  })
})

it('requires a key when VITRINE_DEMO_REQUIRE_KEY is set', async () => {
  const without = await stage.start({ env: { VITRINE_DEMO_REQUIRE_KEY: '1', DEMO_API_KEY: undefined } })
  expect(without.initialized.authMethods).toMatchObject([{ id: 'key' }])
  await expect(without.session(stage.folder())).rejects.toMatchObject({ code: -32000 })
  await expect(without.agent.request('authenticate', { methodId: 'key' })).rejects.toMatchObject({
    code: -32000,
  })
  const withKey = await stage.start({ env: { VITRINE_DEMO_REQUIRE_KEY: '1', DEMO_API_KEY: 'x' } })
  await withKey.agent.request('authenticate', { methodId: 'key' })
  expect(await withKey.session(stage.folder())).toMatch(/^demo-/)
})
