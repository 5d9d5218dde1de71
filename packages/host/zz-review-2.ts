import { createSandbox, local } from './src/index.ts'
import { all, quick, script, sleep, timed } from './zz-review-lib.ts'
const agents = [ script('models', `
on('session/prompt', ({ id, prompt }) => { if (prompt[0].text === 'die') process.exit(3); reply(id, { stopReason: 'end_turn' }) })
`)]
const sandbox = await createSandbox({ agents, install: 'never', provider: local({ isolation: 'none' }) })
try {
    for (const agent of ['demo', 'models']) {
    const [k, a, b] = agent === 'demo' ? ['mode', 'plan', 'auto'] as const : ['model', 'a', 'b'] as const
    const s = await sandbox.openSession({ agent, env: quick, [k]: a })
    await s.setConfigOption(k, b)
    await s.prompt(agent === 'demo' ? '/crash 3': 'die').catch(() => 0)
    await s.prompt('/say hi')
    console.log(agent, 'after restore', s.info.options.find((o) => o.id === k)?.current)
    for (const e of await all(sandbox, ['session.*', 'log.*','agent.message']))
     { if (e.session !== s.id) continue
       if (e.type === 'agent.message') { if (/set_/.test(e.data.message.method ?? '')) console.log('   wire', JSON.stringify(e.data.message.params)); continue }
       console.log(e.type, JSON.stringify(e.data.restored ?? e.data.message ?? e.data.options?.map((o: any) => o.id + '=' + o.current).join(' '))) }
    await s.close()
    }
} finally { await timed('sandbox.close', sandbox.close()) }
process.exit(0)
