import { mkdtempSync, rmSync } from 'node:fs'
import { execSync } from 'node:child_process'
import { createSandbox, local, openHost } from './src/index.ts'
import { all, quick, script, sleep, timed } from './zz-review-lib.ts'
const data = mkdtempSync('/var/tmp/review5/host-')
const agents = [
  script('hang', `on('session/set_model', () => {}); lines.removeAllListeners('close')`),
  script('late', `
let n = 0
on('session/new', ({ id }) => reply(id, { sessionId: 'late-' + ++n }))
on('session/prompt', ({ id, sessionId, prompt }) => {
  if (prompt[0].text === 'work') { setInterval(() => say(sessionId, 'I AM ' + sessionId), 100)
    setTimeout(async () => { const r = await ask('session/request_permission', { sessionId, toolCall: { toolCallId: 't' + sessionId, kind: 'execute', title: 'rm -rf for ' + sessionId }, options }); say(sessionId, 'PERMISSION ' + JSON.stringify(r.result ?? r.error)) }, 2600) }
  else if (prompt[0].text === 'slow') setTimeout(() => reply(id, { stopReason: 'end_turn' }), 6000)
  else reply(id, { stopReason: 'end_turn' })
})
`, { shared: true }),
]
const host = await openHost({ data, agents, install: 'never', providers: [local({ isolation: 'none' })] })
const which = process.argv[2]
if (which === 'late') {
  const sandbox = await host.create()
  const a = await sandbox.openSession({ agent: 'late', id: 'A', permissions: 'deny', limits: { cancelMs: 5000 } })
  const b = await sandbox.openSession({ agent: 'late', id: 'B', permissions: 'allow' })
  const pa = a.prompt('work'); pa.catch(() => 0)
  await sleep(300)
  const pb = b.prompt('slow'); pb.catch(() => 0)
  await timed('A.close (shared agent that ignores cancel)', a.close(), 20000)
  await timed('A prompt', pa); await timed('B prompt', pb)
  const ev = (await all(sandbox, ['agent.message', 'permission.*', 'session.closed', 'turn.finished'])).filter((e) => e.session === 'B')
  console.log('in B:', ev.filter((e) => JSON.stringify(e).includes('late-1')).map((e) => e.type + ' ' + (e.turn ? 'turn ' : '') + JSON.stringify(e.data.message?.params?.update?.content?.text ?? e.data.message?.result ?? e.data.toolCall?.title ?? e.data.answer)).slice(-6))
  console.log((await all(sandbox, ['permission.*'])).map((e) => [e.session, e.type, e.data.answer, e.data.by].join(' ')))
  console.log((await all(sandbox, ['session.closed', 'turn.finished'])).map((e) => [e.session, e.type, JSON.stringify(e.data).slice(0, 120)].join(' ')))
}
if (which === 'hang') {
  const sandbox = await host.create()
  const opening = sandbox.openSession({ agent: 'hang', model: 'b' })
  opening.catch(() => 0)
  await sleep(700)
  const t = performance.now()
  await timed('host.close', host.close(), 20000)
  console.log('processes of the agent after close:', execSync("ps -eo pid,args | grep -c '[s]ession/set_model.*removeAll' || true").toString().trim())
  await sleep(2000)
  console.log('2 s later:', execSync("ps -eo pid,args | grep -c '[s]ession/set_model.*removeAll' || true").toString().trim())
  await timed('openSession', opening, 3000)
}
if (which === 'attach') {
  const sandbox = await host.create({ id: 'x' })
  await sandbox.close()
  console.log(host.list())
  const again = await timed('attach after sandbox.close()', host.attach('x'))
  console.log('same object', again === sandbox)
  if (again) await timed('exec', again.exec('echo hi'))
  const s2 = await host.create({ id: 'y' })
  await s2.lifecycle.shutdown()
  console.log(host.list().find(({ id }) => id === 'y'))
  const b = await timed('attach after shutdown', host.attach('y'))
  if (b) await timed('exec', b.exec('echo hi'))
  await timed('start', s2.lifecycle.start())
  const s = await timed('openSession after shutdown and start', s2.openSession({ agent: 'demo', env: quick }))
  if (s) console.log((await s.prompt('/say hi')).outcome)
  await timed('shutdown with an open session', s2.lifecycle.shutdown())
  if (s) console.log(s.info.state)
  await timed('openSession while shut down', s2.openSession({ agent: 'demo', env: quick }))
  await timed('destroy y', host.destroy('y')); await timed('destroy x', host.destroy('x'))
}
if (which === 'resume') {
  const sandbox = await host.create()
  const s = await sandbox.openSession({ agent: 'demo', id: 'r', env: quick })
  const p = s.prompt('/stall'); p.catch(() => 0)
  await sleep(200)
  const closing = s.close()
  const again = await timed('resume during close', sandbox.sessions.resume('r', { env: quick }))
  console.log('state', again?.info.state, 'same', again === s)
  if (again) await timed('prompt', again.prompt('/say hi'))
  await closing
  // window between home.closed and session.closed
  const t = await sandbox.openSession({ agent: 'demo', id: 'q', env: quick })
  const c2 = t.close()
  let got: any
  for (let i = 0; i < 400; i++) { got = await sandbox.sessions.get('q').then(() => undefined, (e) => e.code); if (got) break; await sleep(1) }
  const r2 = await timed('resume right after', sandbox.sessions.resume('q', { env: quick }))
  await c2
  console.log((await all(sandbox, ['session.*'])).filter((e) => e.session === 'q').map((e) => e.type + ' ' + (e.data.restored ?? e.data.reason ?? '')))
  if (r2) await timed('prompt', r2.prompt('/say hi'))
}
if (which === 'pause') {
  const sandbox = await host.create()
  const s = await sandbox.openSession({ agent: 'demo', env: quick })
  await timed('pause', sandbox.lifecycle.pause())
  await timed('close while paused', s.close())
  const s2p = sandbox.openSession({ agent: 'demo', env: quick }); s2p.catch(() => 0)
  await timed('openSession while paused', s2p, 5000)
  await timed('resume', sandbox.lifecycle.resume())
  await timed('openSession', s2p, 5000)
}
await timed('host.close', host.close(), 20000)
rmSync(data, { recursive: true, force: true })
process.exit(0)
