import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, it } from 'vitest'
import { allEvents, eventsOf, failure, scene, script, until } from './fixture.ts'

const secret = 'hushed-value-8d41f0c26a'

it('repeats the last stderr lines in the error of a failed call, masked, while the agent runs', async () => {
  const talkative = script(
    'talkative',
    `const fail = ({ id }) => {
      for (let n = 1; n <= 100; n += 1) console.error('line ' + n)
      console.error('bad key ' + process.env.MY_KEY)
      process.stderr.write('half of ' + process.env.MY_KEY.slice(0, 12), () =>
        send({ id, error: { code: -32603, message: 'Internal error' } }))
    }
    on('session/prompt', fail)
    on('session/set_mode', fail)`,
  )
  const sandbox = await scene({ agents: [talkative] })
  const session = await sandbox.openSession({ agent: 'talkative', credentials: { MY_KEY: secret } })
  const error = await failure(session.prompt('go'))
  expect(error).toMatchObject({
    code: 'agent_failed',
    details: { method: 'session/prompt', code: -32603, stderr: { lines: 102 } },
  })
  expect(error.message).toMatch(
    /Internal error\nEnd of its stderr \(102 lines in all\):\nline 98\nline 99\nline 100\nbad key \[redacted.*\]\nhalf of $/,
  )
  expect(JSON.stringify(error.details)).not.toContain(secret.slice(0, 12))
  expect(error.message.length).toBeLessThan(1_000)
  const [finished] = await eventsOf(sandbox, 'turn.finished')
  expect(finished?.data).toMatchObject({ errorCode: 'agent_failed', errorMessage: error.message })
  expect(JSON.stringify(await allEvents(sandbox.journal))).not.toContain(secret)
})

it('repeats them when a session cannot be opened', async () => {
  const closed = script(
    'closed',
    `on('session/new', ({ id }) =>
      process.stderr.write('no licence found\\n', () =>
        send({ id, error: { code: -32603, message: 'Internal error' } })))`,
  )
  const sandbox = await scene({ agents: [closed] })
  const error = await failure(sandbox.openSession({ agent: 'closed' }))
  expect(error).toMatchObject({ code: 'agent_failed', details: { stderr: { head: 'no licence found' } } })
  expect(error.message).toContain('no licence found')
})

/** An agent that asks the proxy of its sandbox for a tunnel, or connects to a port of its loopback. */
const networked = script(
  'networked',
  `import { request } from 'node:http'
  import { connect } from 'node:net'
  const tunnel = (path) => new Promise((resolve) => {
    request({ host: '127.0.0.1', port: 3128, method: 'CONNECT', path })
      .on('connect', (response, socket) => { socket.destroy(); resolve() }).end()
  })
  const reach = (port) => new Promise((resolve) => {
    connect(port, '127.0.0.1').on('error', () => {}).on('close', resolve).resume()
  })
  on('session/prompt', async ({ id, sessionId, prompt }) => {
    const [how, target] = prompt[0].text.split(' ').slice(-2)
    for (let n = 0; n < 3; n += 1) await (target.includes(':') ? tunnel(target) : reach(Number(target)))
    if (how === 'fail') send({ id, error: { code: -32603, message: 'fetch failed' } })
    else {
      if (how === 'say') say(sessionId, 'API Error: 503 no connection')
      reply(id, { stopReason: 'end_turn' })
    }
  })`,
)

it('names the destinations in the error of a turn that its agent could not reach, with the entry that allows them', async () => {
  const server = createServer().listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  const sandbox = await scene({
    isolation: 'bubblewrap',
    egress: [`localhost:${port}`, 'listed.example:443'],
    agents: [networked],
  })
  const session = await sandbox.openSession({ agent: 'networked' })

  const refused = await failure(session.prompt('fail denied.example:443'))
  const denied = { host: 'denied.example', port: 443, allow: 'denied.example:443' }
  expect(refused).toMatchObject({ code: 'agent_failed', details: { connections: [denied] } })
  expect(refused.message).toContain('fetch failed\nIt could not connect to denied.example:443: ')
  expect(refused.message).toContain('To allow it, add "denied.example:443" to the sandbox\'s `egress`.')

  const failed = await failure(session.prompt(`fail ${port}`))
  expect(failed.details.connections).toEqual([{ host: 'localhost', port, error: 'ECONNREFUSED' }])
  expect(failed.message).toContain(`It could not connect to localhost:${port}: ECONNREFUSED.`)
  const finished = await eventsOf(sandbox, 'turn.finished')
  expect(finished.map(({ data }) => data.errorMessage)).toEqual([refused.message, failed.message])

  expect(await session.prompt('say denied.example:443')).toMatchObject({
    outcome: 'ok',
    modelError: { sign: 'message', connections: [denied] },
  })
  expect(await session.prompt(`silent ${port}`)).toMatchObject({
    modelError: { sign: 'silence', connections: [{ host: 'localhost', port }] },
  })
})

it('does not name the failed connections of other processes', async () => {
  const waiting = script(
    'waiting',
    `import { existsSync } from 'node:fs'
    on('session/prompt', ({ id }) => {
      const timer = setInterval(() => {
        if (!existsSync('give-up')) return
        clearInterval(timer)
        send({ id, error: { code: -32603, message: 'gave up' } })
      }, 5)
    })`,
  )
  const sandbox = await scene({
    isolation: 'bubblewrap',
    egress: ['listed.example:443'],
    agents: [waiting],
  })
  const session = await sandbox.openSession({ agent: 'waiting' })
  const prompted = failure(session.prompt('go'))
  await until(sandbox, 'turn.started')
  await sandbox.exec('curl -sS --proxy http://127.0.0.1:3128 https://denied.example/')
  expect(await eventsOf(sandbox, 'network.refused')).toHaveLength(1)
  await sandbox.files.write('give-up', 'now')
  const error = await prompted
  expect(error.message).toBe('The agent waiting responded to session/prompt with an error: gave up')
  expect(error.details).not.toHaveProperty('connections')
})

it('names them in the end of a turn that is cancelled or takes too long while its agent waits', async () => {
  const stuck = script(
    'stuck',
    `import { request } from 'node:http'
    let prompted
    on('session/prompt', ({ id }) => {
      prompted = id
      request({ host: '127.0.0.1', port: 3128, method: 'CONNECT', path: 'denied.example:443' })
        .on('connect', (response, socket) => socket.destroy()).end()
    })
    on('session/cancel', () => reply(prompted, { stopReason: 'cancelled' }))`,
  )
  const sandbox = await scene({ isolation: 'bubblewrap', egress: ['listed.example:443'], agents: [stuck] })
  const denied = { host: 'denied.example', port: 443, allow: 'denied.example:443' }
  const refusals = async () => (await eventsOf(sandbox, 'network.refused')).length

  const slow = await sandbox.openSession({ agent: 'stuck' })
  const prompted = slow.prompt('go', { turn: 'turn-cancelled' })
  await expect.poll(refusals, { timeout: 20_000 }).toBe(1)
  await slow.cancel()
  const cancelled = await prompted
  expect(cancelled).toMatchObject({ outcome: 'cancelled', connections: [denied] })
  // Sent again, the recorded turn has them too.
  expect(await slow.prompt('go', { turn: 'turn-cancelled' })).toEqual(cancelled)

  const hasty = await sandbox.openSession({ agent: 'stuck', limits: { totalMs: 2_000 } })
  expect(await hasty.prompt('go')).toMatchObject({ outcome: 'timeout', connections: [denied] })
  const finished = await eventsOf(sandbox, 'turn.finished')
  for (const { data } of finished)
    expect(data).toMatchObject({
      connections: [denied],
      errorMessage: expect.stringMatching(/^It could not connect to denied\.example:443: /),
    })
  expect(finished).toHaveLength(2)
})
