import { VitrineError } from '@vitrine/protocol'
import { describe, expect, it } from 'vitest'
import { attend, ended, gatedStore, meet } from './memory.ts'

const note = (n: number) => ({ method: 'note', params: { n } })

describe('the record', () => {
  it('has a start and one end, and every message in between', async () => {
    const { agent, bridge, events } = await meet({ credentials: ['KEY'] })
    const { send } = attend(bridge, 'one')
    await send({ id: 9, method: 'hello' })
    agent.say({ id: 1, result: {} })
    agent.exit({ ...ended, outcome: 'failed', exitCode: 3 })
    await bridge.closed
    expect((await events()).map(({ type, data }) => [type, data.direction])).toEqual([
      ['agent.started', undefined],
      ['agent.message', 'in'],
      ['agent.message', 'out'],
      ['agent.exited', undefined],
    ])
    expect(await events('agent.started')).toMatchObject([
      { data: { agent: 'memory', memory: true, credentials: ['KEY'] } },
    ])
    expect(await events('agent.exited')).toMatchObject([
      { data: { exitCode: 3, endedBy: 'agent', instance: bridge.instance } },
    ])
  })

  it('comes before anybody hears of a message, from the agent or to it', async () => {
    const { agent, bridge, events } = await meet()
    const { next, send } = attend(bridge, 'one')
    const seen: number[] = []
    agent.onWrite = async () => void seen.push((await events('agent.message')).length)
    agent.say(note(1))
    await next()
    expect(await events('agent.message')).toHaveLength(1)
    await send({ method: 'back' })
    expect(seen).toEqual([2])
  })

  it('keeps the order of the agent, and delivers in that order', async () => {
    const { agent, bridge, events } = await meet()
    const { next } = attend(bridge, 'one')
    for (let n = 0; n < 200; n += 1) agent.say(note(n))
    const heard: unknown[] = []
    for (let n = 0; n < 200; n += 1) heard.push(await next())
    const order = Array.from({ length: 200 }, (_, n) => n)
    expect(heard).toMatchObject(order.map(note))
    expect(await events('agent.message')).toMatchObject(order.map((n) => ({ data: { message: note(n) } })))
  })

  it('keeps the order in which the agent is told', async () => {
    const { agent, bridge, events } = await meet()
    const { send } = attend(bridge, 'one')
    const order = Array.from({ length: 50 }, (_, n) => n)
    await Promise.all(order.map((n) => send(note(n))))
    expect(agent.heard).toMatchObject(order.map(note))
    expect(await events('agent.message')).toMatchObject(order.map((n) => ({ data: { message: note(n) } })))
  })

  it('writes what a message means with it, or in its place, and says when that is done', async () => {
    const committed: string[] = []
    const { agent, bridge, events } = await meet({
      interpret: (envelope) => {
        if (envelope.kind !== 'notification') return {}
        if (envelope.method === 'other')
          return { replacement: [{ type: 'foreign.event', data: { type: 'odd', data: {} } }] }
        return {
          context: { session: 'ses_1' },
          replay: true,
          events: [{ type: 'log.message', data: { level: 'info', message: 'beside' } }],
          onCommitted: () => void committed.push(envelope.method),
        }
      },
    })
    const { next } = attend(bridge, 'one')
    agent.say(note(1), { method: 'other' })
    await next()
    await next()
    expect(committed).toEqual(['note'])
    expect((await events()).slice(1)).toMatchObject([
      { type: 'agent.message', session: 'ses_1', data: { replay: true } },
      { type: 'log.message' },
      { type: 'foreign.event' },
    ])
  })

  it('says of what is meant for the agent when it could not be written', async () => {
    const lost: unknown[] = []
    const gated = gatedStore()
    const { bridge } = await meet(
      { interpret: () => ({ onCommitFailed: (error) => void lost.push(error) }) },
      gated.driver,
    )
    const { send } = attend(bridge, 'one')
    gated.gate = async () => {
      throw new VitrineError('internal', 'The disk is gone.')
    }
    await expect(send({ method: 'hello' })).rejects.toBeDefined()
    expect(lost).toHaveLength(1)
    gated.gate = undefined
  })
})

describe('parties', () => {
  it('keep their ids apart (of two requests with one id sandbox-agent answers neither)', async () => {
    const { agent, bridge } = await meet()
    const [one, two] = [attend(bridge, 'one'), attend(bridge, 'two')]
    await one.send({ id: 1, method: 'who' })
    await two.send({ id: 1, method: 'who' })
    await two.send({ id: 'x', method: 'who' })
    expect(agent.heard).toMatchObject([{ id: 1 }, { id: 2 }, { id: 3 }])
    agent.say({ id: 3, result: 'third' }, { id: 2, result: 'second' }, { id: 1, result: 'first' })
    expect(await one.next()).toMatchObject({ id: 1, result: 'first' })
    expect(await two.next()).toMatchObject({ id: 'x', result: 'third' })
    expect(await two.next()).toMatchObject({ id: 1, result: 'second' })
  })

  it('are asked if they want to answer, and the first answer counts', async () => {
    const { agent, bridge, events } = await meet()
    const outrun: unknown[] = []
    const answers = (method: string) => method === 'may-i'
    const one = attend(bridge, 'one', { handlesRequest: answers })
    const two = attend(bridge, 'two', {
      handlesRequest: answers,
      onAnsweredByOther: (answer) => void outrun.push(answer),
    })
    agent.say({ id: 7, method: 'may-i' })
    expect([await one.next(), await two.next()]).toMatchObject([{ id: 7 }, { id: 7 }])
    await one.send({ id: 7, result: 'yes' })
    await two.send({ id: 7, result: 'no' })
    expect(agent.heard).toEqual([{ jsonrpc: '2.0', id: 7, result: 'yes' }])
    expect(outrun).toMatchObject([{ result: 'yes' }])
    expect(await events('log.message')).toMatchObject([
      { data: { message: 'two answered a request of memory that is not open (id 7).' } },
    ])
    // The id is free again.
    agent.say({ id: 7, method: 'may-i' })
    await two.next()
    await two.send({ id: 7, result: 'now' })
    expect(agent.heard.at(-1)).toMatchObject({ id: 7, result: 'now' })
  })

  it('hear only what they want', async () => {
    const { agent, bridge } = await meet()
    const { next } = attend(bridge, 'one', { wantsNotification: (method) => method === 'b' })
    agent.say({ method: 'a' }, { method: 'b' })
    expect(await next()).toMatchObject({ method: 'b' })
  })

  it('leave without harm, and what they asked is nobody’s', async () => {
    const { agent, bridge, events } = await meet()
    const [one, two] = [attend(bridge, 'one'), attend(bridge, 'two')]
    await one.send({ id: 1, method: 'who' })
    one.party.close()
    agent.say({ id: 1, result: 'late' }, note(1))
    expect(await two.next()).toMatchObject(note(1))
    expect((await events('log.message'))[0]?.data.message).toContain('a request that is not open (id 1)')
  })

  it('harm nobody when they fail or do not read', async () => {
    const { agent, bridge } = await meet()
    const broken = () => {
      throw new Error('broken')
    }
    attend(bridge, 'broken', { wantsNotification: broken, handlesRequest: broken, onAnsweredByOther: broken })
    const idle = attend(bridge, 'idle')
    const one = attend(bridge, 'one', {
      handlesRequest: () => true,
      wantsNotification: (method) => method === 'last',
    })
    for (let n = 0; n < 10_010; n += 1) agent.say(note(n))
    agent.say({ id: 1, method: 'may-i' }, { method: 'last' })
    expect(await one.next()).toMatchObject({ id: 1 })
    await one.send({ id: 1, result: 'yes' })
    expect(await one.next()).toMatchObject({ method: 'last' })
    await expect(idle.next()).rejects.toMatchObject({ code: 'view_fell_behind' })
  })

  it('that must answer are never let go: the agent is held instead, and read again once it is answered', async () => {
    const { agent, bridge, events } = await meet()
    const one = attend(bridge, 'one', { handlesRequest: () => true, mustNotDrop: true })
    const ids = Array.from({ length: 12_000 }, (_, id) => id)
    agent.say(...ids.map((id) => ({ id, method: 'may-i' })))
    expect(agent.calls).toEqual(['hold'])
    for (const id of ids) expect(await one.next()).toMatchObject({ id })
    for (const id of ids.slice(0, 11_500)) await one.send({ id, result: {} })
    expect(agent.calls).toEqual(['hold'])
    await one.send({ id: 11_500, result: {} })
    expect(agent.calls).toEqual(['hold', 'release'])
    expect(await events('limit.reached')).toMatchObject([
      { data: { limit: 'agent.openRequests', max: 1_000 } },
    ])
  })

  it('that are asked what nobody answers do not grow: an agent that does not read the refusals is held', async () => {
    const { agent } = await meet()
    const taken = Promise.withResolvers<void>()
    agent.onWrite = () => taken.promise
    for (let batch = 0; batch < 10; batch += 1) {
      const ids = Array.from({ length: 1_000 }, (_, n) => batch * 1_000 + n)
      agent.say(...ids.map((id) => ({ id, method: 'odd' })))
      await new Promise((resolve) => setImmediate(resolve))
      if (agent.calls.at(-1) === 'hold') break
    }
    await expect.poll(() => agent.calls.at(-1)).toBe('hold')
    taken.resolve()
    await expect.poll(() => agent.calls.at(-1)).toBe('release')
  })

  it('do not keep an agent held that has ended', async () => {
    const { agent, bridge } = await meet()
    attend(bridge, 'one', { handlesRequest: () => true, mustNotDrop: true })
    agent.say(...Array.from({ length: 1_001 }, (_, id) => ({ id, method: 'may-i' })))
    expect(agent.calls).toEqual(['hold'])
    agent.exit()
    await bridge.closed
    expect(agent.calls).toEqual(['hold', 'release'])
  })

  it('are told why when the agent is gone, now and later', async () => {
    const { agent, bridge } = await meet()
    const one = attend(bridge, 'one')
    const waiting = one.next().catch((error) => error)
    agent.exit({ ...ended, exitCode: 7, stderr: { head: 'oh no', lines: 1 } })
    expect(await waiting).toMatchObject({ code: 'agent_exited', details: { exitCode: 7 } })
    expect((await waiting).message).toContain('oh no')
    const late = attend(bridge, 'late')
    await expect(late.next()).rejects.toMatchObject({ code: 'agent_exited' })
    await expect(late.send({ method: 'hello' })).rejects.toMatchObject({ code: 'agent_exited' })
  })
})

describe('what is odd', () => {
  it('is answered with -32601 when nobody answers it', async () => {
    const { agent, bridge, events } = await meet()
    const { next } = attend(bridge, 'one')
    agent.say({ id: 'q', method: 'craft/drain' }, note(1))
    await next()
    await expect.poll(() => agent.heard).toMatchObject([{ id: 'q', error: { code: -32_601 } }])
    expect(await events('agent.message')).toHaveLength(3)
  })

  it('is one request with an id that is open: the second is refused and means nothing', async () => {
    const asked: unknown[] = []
    const { agent, bridge } = await meet({
      interpret: (envelope, direction) => {
        if (envelope.kind !== 'notification') asked.push([envelope.kind, direction])
        return {}
      },
    })
    const one = attend(bridge, 'one', { handlesRequest: () => true })
    agent.say({ id: 1, method: 'may-i' }, { id: 1, method: 'may-i' }, { id: '1', method: 'may-i' })
    expect(await one.next()).toMatchObject({ id: 1 })
    expect(await one.next()).toMatchObject({ id: '1' })
    await expect.poll(() => agent.heard).toMatchObject([{ id: 1, error: { code: -32_600 } }])
    await one.send({ id: 1, result: 'yes' })
    expect(agent.heard.at(-1)).toMatchObject({ id: 1, result: 'yes' })
    expect(asked).toEqual([
      ['request', 'out'],
      ['request', 'out'],
      ['response', 'in'],
    ])
  })

  it('is a response to what nobody asked: noted, and nothing else', async () => {
    const { agent, bridge, events } = await meet()
    const one = attend(bridge, 'one')
    await one.send({ id: 5, method: 'who' })
    agent.say({ id: 99, result: {} }, { id: '1', result: {} }, { id: null, error: { code: 1 } })
    agent.say({ id: 1, result: 'me' }, { id: 1, result: 'me again' }, note(1))
    expect(await one.next()).toMatchObject({ id: 5, result: 'me' })
    expect(await one.next()).toMatchObject(note(1))
    expect(await events('log.message')).toHaveLength(4)
  })

  it('is kept as bytes when it is no message', async () => {
    const { agent, bridge, events } = await meet()
    const { next } = attend(bridge, 'one')
    agent.bytes('Welcome!\nto the agent\n')
    agent.bytes(Buffer.from([0xff, 0xfe, 0x0a]))
    agent.say(note(1))
    await next()
    agent.bytes('{"half')
    agent.exit()
    await bridge.closed
    expect((await events('agent.unparsed')).map(({ data }) => [data.data, data.encoding])).toEqual([
      ['Welcome!\nto the agent', 'utf8'],
      [Buffer.from([0xff, 0xfe]).toString('base64'), 'base64'],
      ['{"half', 'utf8'],
    ])
  })

  it('ends an agent whose message is too long, and says so', async () => {
    const { agent, bridge, events } = await meet({ maxMessageBytes: 1_000 })
    const one = attend(bridge, 'one')
    const waiting = one.next().catch((error) => error)
    agent.bytes('x'.repeat(1_001))
    expect(await waiting).toMatchObject({ code: 'agent_protocol_error', details: { agent: 'memory' } })
    expect((await waiting).message).toContain('more than 1000 bytes')
    expect(await events('limit.reached')).toMatchObject([
      { data: { limit: 'agent.messageBytes', max: 1_000 } },
    ])
    expect(await events('agent.exited')).toMatchObject([{ data: { endedBy: 'host' } }])
  })

  it('ends a program that says only what is no message, and a message in between makes it good', async () => {
    const { agent, bridge, events } = await meet()
    const chatter = `${'a log line\n'.repeat(30_000)}`
    for (let n = 0; n < 10; n += 1) {
      agent.bytes(chatter)
      agent.say(note(n))
    }
    const { next } = attend(bridge, 'one')
    await next()
    expect(await events('limit.reached')).toEqual([])
    for (let n = 0; n < 10; n += 1) agent.bytes(chatter)
    await bridge.closed
    expect(await events('limit.reached')).toMatchObject([{ data: { limit: 'agent.unparsedBytes' } }])
    expect(bridge.exitError().message).toContain('does not speak the Agent Client Protocol')
  })

  it('does not go on with a pipe that is broken: it has ended, or it is ended', async () => {
    const { agent, bridge } = await meet()
    const one = attend(bridge, 'one')
    agent.onWrite = () => {
      agent.exit({ ...ended, outcome: 'failed', exitCode: null, signal: 'SIGKILL' })
      throw new Error('write EPIPE')
    }
    await expect(one.send({ method: 'hello' })).rejects.toMatchObject({
      code: 'agent_exited',
      details: { signal: 'SIGKILL' },
    })
    const other = await meet()
    other.agent.onWrite = () => {
      throw new Error('write EPIPE')
    }
    await expect(attend(other.bridge, 'one').send({ method: 'hello' })).rejects.toMatchObject({
      code: 'agent_protocol_error',
      message: expect.stringContaining('closed its input'),
    })
    expect(other.agent.calls).toContain('end')
  })
})

describe('a store that is slow or fails', () => {
  const big = `${JSON.stringify({ jsonrpc: '2.0', method: 'note', params: { text: 'x'.repeat(1024 * 1024) } })}\n`

  it('holds the agent’s pipe above 8 MiB, and reads on below 2', async () => {
    const gated = gatedStore()
    const { agent, bridge, events } = await meet({}, gated.driver)
    const { next } = attend(bridge, 'one')
    const open = Promise.withResolvers<void>()
    gated.gate = () => open.promise
    for (let n = 0; n < 8; n += 1) agent.bytes(big)
    expect(agent.calls).toEqual(['hold'])
    gated.gate = undefined
    open.resolve()
    for (let n = 0; n < 8; n += 1) await next()
    expect(agent.calls).toEqual(['hold', 'release'])
    expect(await events('agent.message')).toHaveLength(8)
  })

  it('delivers nothing that is not committed, and everything once it is', async () => {
    const gated = gatedStore()
    const { agent, bridge, events } = await meet({}, gated.driver)
    const { next, send } = attend(bridge, 'one')
    let refusals = 0
    gated.gate = async () => {
      refusals += 1
      throw new VitrineError('store_failing', 'The disk is full.')
    }
    agent.say(note(1), note(2))
    const sent = send(note(3))
    let delivered = false
    const heard = next().then((message) => {
      delivered = true
      return message
    })
    await expect.poll(() => refusals).toBeGreaterThan(1)
    expect(delivered).toBe(false)
    expect(agent.heard).toEqual([])
    gated.gate = undefined
    expect(await heard).toMatchObject(note(1))
    expect(await next()).toMatchObject(note(2))
    await sent
    expect(agent.heard).toMatchObject([note(3)])
    expect(await events('agent.message')).toHaveLength(3)
  })

  it('ends an agent whose words can never be put on record', async () => {
    const { agent, bridge, store } = await meet()
    const { next } = attend(bridge, 'one')
    const waiting = next().catch((error) => error)
    await store.close()
    agent.say(note(1))
    expect(await waiting).toMatchObject({ code: 'agent_exited' })
    expect(agent.calls).toContain('end')
  })

  it('does not let run what could not be put on record', async () => {
    const gated = gatedStore()
    const { store, journal } = await meet({}, gated.driver)
    await store.close()
    const { Bridge } = await import('../../src/bridge/bridge.ts')
    const { MemoryTransport } = await import('./memory.ts')
    const transport = new MemoryTransport()
    await expect(
      Bridge.open({ agent: 'late', transport, journal, interpret: () => ({}) }),
    ).rejects.toMatchObject({
      code: 'store_closed',
    })
    expect(transport.calls).toEqual(['end'])
  })
})
