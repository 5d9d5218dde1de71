import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, expect, it } from 'vitest'
import { DemoProcesses } from './start.ts'

const stage = new DemoProcesses()
afterEach(() => stage.clear())

it('runs a whole story for a plain prompt', async () => {
  const demo = await stage.start()
  const cwd = stage.folder()
  const id = await demo.session(cwd)
  const answer = await demo.prompt(id, 'Build me a landing page for my bakery')

  expect(answer.stopReason).toBe('end_turn')
  expect(answer.usage?.outputTokens).toBeGreaterThan(0)
  expect(answer.usage?.totalTokens).toBe(demo.of(id, 'usage_update')[0]?.used)
  expect(demo.text(id)).toContain('\n\nI am only the demo agent')
  expect(readFileSync(join(cwd, 'index.html'), 'utf8')).toContain('<h1>My bakery</h1>')
  expect(demo.of(id, 'agent_thought_chunk').length).toBeGreaterThan(1)
  expect(demo.of(id, 'agent_message_chunk').length).toBeGreaterThan(5)
  expect(demo.of(id, 'session_info_update')[0]?.title).toBe('Build me a landing page for my bakery')
  expect(demo.of(id, 'usage_update')).toHaveLength(1)
  expect(demo.of(id, 'plan').map(({ entries }) => entries.map(({ status }) => status).join(' '))).toEqual([
    'in_progress pending pending',
    'completed in_progress pending',
    'completed completed in_progress',
    'completed completed completed',
  ])
  expect(demo.of(id, 'tool_call').map(({ kind }) => kind)).toEqual(['read', 'edit', 'execute'])
  expect(demo.permissions).toHaveLength(1)
  expect(demo.permissions[0]?.toolCall.content?.[0]).toMatchObject({
    type: 'diff',
    path: join(cwd, 'index.html'),
    oldText: null,
  })
  const ran = demo.of(id, 'tool_call_update').at(-1)
  expect(ran?.status).toBe('completed')
  expect(JSON.stringify(ran?.content)).toContain('<h1>My bakery</h1>')
})

it('continues the file of an earlier story', async () => {
  const demo = await stage.start()
  const cwd = stage.folder()
  const id = await demo.session(cwd)
  await demo.prompt(id, 'Hello')
  await demo.prompt(id, 'Hello again')
  const note = readFileSync(join(cwd, 'hello.md'), 'utf8')
  expect(note).toContain('> Hello\n')
  expect(note).toContain('> Hello again\n')
  expect(demo.permissions[1]?.toolCall.content?.[0]).toMatchObject({
    oldText: expect.stringContaining('> Hello'),
  })
})

it('does not change a file of the user', async () => {
  const demo = await stage.start()
  const cwd = stage.folder()
  writeFileSync(join(cwd, 'hello.md'), 'mine')
  await demo.prompt(await demo.session(cwd), 'Hello')
  expect(readFileSync(join(cwd, 'hello.md'), 'utf8')).toBe('mine')
  expect(readFileSync(join(cwd, 'hello-2.md'), 'utf8')).toContain('> Hello')
})

it('uses the files and terminals of a client that offers them', async () => {
  const written: Record<string, string> = {}
  const calls: string[] = []
  const demo = await stage.start({
    capabilities: { fs: { readTextFile: true, writeTextFile: true }, terminal: true },
    with: (app) =>
      app
        .onRequest('fs/read_text_file', ({ params }) => {
          const content = written[params.path]
          if (content === undefined) throw new Error('not there')
          return { content }
        })
        .onRequest('fs/write_text_file', ({ params }) => {
          written[params.path] = params.content
        })
        .onRequest('terminal/create', ({ params }) => {
          calls.push(params.args?.at(-1) ?? '')
          return { terminalId: 'T1' }
        })
        .onRequest('terminal/wait_for_exit', () => ({ exitCode: 0 }))
        .onRequest('terminal/output', () => ({ output: 'as if', truncated: false }))
        .onRequest('terminal/release', ({ params }) => {
          calls.push(`released ${params.terminalId}`)
        }),
  })
  const cwd = stage.folder()
  const id = await demo.session(cwd)
  await demo.prompt(id, 'Hello')
  expect(written[join(cwd, 'hello.md')]).toContain('> Hello')
  expect(calls).toEqual(['cat hello.md', 'released T1'])
  expect(demo.of(id, 'tool_call_update')).toContainEqual(
    expect.objectContaining({ content: [{ type: 'terminal', terminalId: 'T1' }] }),
  )

  const before = demo.notifications.length
  await demo.agent.request('session/load', { sessionId: id, cwd, mcpServers: [] })
  const retold = JSON.stringify(demo.notifications.slice(before))
  expect(retold).toContain('as if')
  expect(retold).not.toContain('"terminal"')
})

it('changes nothing when the permission is rejected', async () => {
  const demo = await stage.start({ permission: 'reject' })
  const cwd = stage.folder()
  const id = await demo.session(cwd)
  expect((await demo.prompt(id, 'Hello')).stopReason).toBe('end_turn')
  expect(() => readFileSync(join(cwd, 'hello.md'))).toThrow()
  expect(demo.text(id)).toContain('I leave hello.md alone')
})

it('ends the turn as cancelled when the permission is cancelled', async () => {
  const demo = await stage.start({ permission: 'cancelled' })
  const id = await demo.session(stage.folder())
  expect((await demo.prompt(id, 'Hello')).stopReason).toBe('cancelled')
  expect(demo.of(id, 'tool_call_update').at(-1)?.status).toBe('failed')
})

it('asks nothing in mode auto and writes nothing in mode plan', async () => {
  const demo = await stage.start()
  const cwd = stage.folder()
  const id = await demo.session(cwd)
  await demo.agent.request('session/set_mode', { sessionId: id, modeId: 'plan' })
  await demo.prompt(id, 'Hello')
  await demo.prompt(id, '/run touch run.txt')
  expect(() => readFileSync(join(cwd, 'hello.md'))).toThrow()
  expect(() => readFileSync(join(cwd, 'run.txt'))).toThrow()
  await demo.agent.request('session/set_mode', { sessionId: id, modeId: 'auto' })
  await demo.prompt(id, 'Hello')
  expect(readFileSync(join(cwd, 'hello.md'), 'utf8')).toContain('> Hello')
  expect(demo.permissions).toHaveLength(0)
})

it('sends thoughts and text according to its options', async () => {
  const demo = await stage.start()
  const id = await demo.session(stage.folder())
  const set = (configId: string, value: string) =>
    demo.agent.request('session/set_config_option', { sessionId: id, configId, value })
  await set('thought_level', 'off')
  const { configOptions } = await set('model', 'sprinter')
  expect(configOptions.map(({ id, currentValue }) => [id, currentValue])).toEqual([
    ['model', 'sprinter'],
    ['thought_level', 'off'],
  ])
  await demo.prompt(id, 'Hello')
  expect(demo.of(id, 'agent_thought_chunk')).toHaveLength(0)
  expect(demo.text(id)).not.toContain('/help')
  await expect(set('model', 'opus')).rejects.toMatchObject({ code: -32602 })
})
