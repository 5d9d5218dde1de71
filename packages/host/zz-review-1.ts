import { createSandbox, local } from './src/index.ts'
import { all, quick, script, sleep, timed } from './zz-review-lib.ts'
const agents = [
  script('outside', `
on('session/new', ({ id }) => { reply(id, { sessionId: 's1' }); setTimeout(() => ask('session/request_permission', { sessionId: 's1', toolCall: { toolCallId: 't', kind: 'edit', title: 'x' }, options }), 50) })
`),
  script('planner', `
on('session/prompt', async ({ id, sessionId }) => { const r = await ask('session/request_permission', { sessionId, toolCall: { toolCallId: 't', kind: 'switch_mode', title: 'plan' }, options }); say(sessionId, JSON.stringify(r.result)); reply(id, { stopReason: 'end_turn' }) })
`),
  script('reader', `
on('session/prompt', async ({ id, sessionId, prompt }) => { const r = await ask('fs/read_text_file', { sessionId, path: prompt[0].text }); say(sessionId, r.error ? JSON.stringify(r.error) : 'chars ' + r.result.content.length); reply(id, { stopReason: 'end_turn' }) })
`),
]
const sandbox = await createSandbox({ agents, install: 'never', provider: local({ isolation: 'none' }) })
try {
  console.log('--- 2 mode reverted after restore')
  {
    const s = await sandbox.openSession({ agent: 'demo', env: quick, mode: 'plan' })
    await s.setMode('auto')
    const mode = () => s.info.options.find((o) => o.id === 'mode')?.current
    console.log('before crash', mode())
    await s.prompt('/crash 3').catch(() => 0)
    await s.prompt('/say hi')
    console.log('after restore', mode())
    await s.close()
  }
  console.log('--- 4 permission outside a turn, then close')
  {
    const s = await sandbox.openSession({ agent: 'outside' })
    for (let i = 0; i < 100 && s.permissions.length === 0; i++) await sleep(20)
    const [p] = s.permissions
    await timed('close', s.close())
    console.log((await all(sandbox, ['permission.*'])).map((e) => e.type))
    console.log('still pending', s.permissions.length)
    if (p) await timed('respondPermission after close', s.respondPermission(p.id, 'allow_once'), 3000)
  }
  console.log('--- 9 deny switch_mode')
  {
    const s = await sandbox.openSession({ agent: 'planner', permissions: { default: 'ask', deny: ['switch_mode'] } })
    const p = s.prompt('x')
    await sleep(500)
    console.log('questions', s.questions.length, 'permissions', s.permissions.length)
    await s.cancel(); await p
    await s.close()
  }
  console.log('--- 8 read 20 MiB of 2-byte characters')
  {
    await sandbox.files.write('big.txt', 'é'.repeat(10 * 1024 * 1024))
    const s = await sandbox.openSession({ agent: 'reader' })
    await s.prompt(sandbox.root + '/big.txt')
    const ev = await all(sandbox, ['agent.message'])
    console.log(ev.map((e) => e.data.message?.params?.update?.content?.text).filter(Boolean).at(-1), '(file has', 10 * 1024 * 1024, 'characters)')
    await s.close()
  }
  console.log('--- 16 env and mcp secrets')
  {
    const s = await sandbox.openSession({ agent: 'demo', env: { ...quick, MY_SERVICE_PASSWORD: 'hunter2-hunter2' },
      mcpServers: [
        { type: 'http', name: 'x', url: 'http://127.0.0.1:9/?key=urlsecret-123456', headers: [{ name: 'Authorization', value: 'Bearer tok-abcdef123456' }] },
        { name: 'y', command: '/bin/true', args: ['--token', 'argsecret-123456'], env: [{ name: 'K', value: 'envsecret-123456' }] }] as any })
    await s.prompt('/say tok-abcdef123456')
    const text = JSON.stringify(await all(sandbox))
    for (const w of ['hunter2-hunter2', 'urlsecret-123456', 'tok-abcdef123456', 'argsecret-123456', 'envsecret-123456']) {
      const n = text.split(w).length - 1
      console.log(w, 'in events:', n)
    }
    const id = s.id
    await s.close()
    const again = await timed('resume', sandbox.sessions.resume(id, { env: quick }))
    const out = (await all(sandbox, ['agent.message'])).filter((e) => e.data.direction === 'in' && /session\/(resume|load)/.test(e.data.message.method ?? '')).at(-1)
    console.log('resumed with', JSON.stringify(out?.data.message.params.mcpServers))
    console.log('options.mcpServers', JSON.stringify((again as any)?.options.mcpServers))
    await again?.close()
  }
} finally { await timed('sandbox.close', sandbox.close()) }
process.exit(0)
