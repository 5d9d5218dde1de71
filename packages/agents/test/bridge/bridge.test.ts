import { VitrineError } from '@vitrine/protocol'
import { describe, expect, it } from 'vitest'
import { attachClient, cleanExit, gatedStore, openBridge } from './fixture.ts'

const note = (n: number) => ({ method: 'note', params: { n } })

describe('the journal', () => {
  it('records the start, every message and exactly one exit of an agent', async () => {
    const { agent, bridge, events } = await openBridge({ credentials: ['KEY'] })
    const { send } = attachClient(bridge, 'one')
    await send({ id: 9, method: 'hello' })
    agent.emit({ id: 1, result: {} })
    agent.exit({ ...cleanExit, outcome: 'failed', exitCode: 3 })
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

  it('commits a message before it is delivered, in both directions', async () => {
    const { agent, bridge, events } = await openBridge()
    const { next, send } = attachClient(bridge, 'one')
    const seen: number[] = []
    agent.onWrite = async () => void seen.push((await events('agent.message')).length)
    agent.emit(note(1))
    await next()
    expect(await events('agent.message')).toHaveLength(1)
    await send({ method: 'back' })
    expect(seen).toEqual([2])
  })

  it('records a message with too many values for an event as a blob, and delivers it', async () => {
    const { agent, bridge, events } = await openBridge()
    const { next } = attachClient(bridge, 'one')
    const list = Array.from({ length: 60_000 }, (_, n) => n)
    agent.emit({ method: 'note', params: { list } })
    agent.emit(note(1))
    expect(await next()).toMatchObject({ params: { list } })
    expect(await next()).toMatchObject(note(1))
    expect(await events('agent.message')).toMatchObject([
      { data: { message: { blob: expect.stringContaining('sha256:') } } },
      { data: { message: note(1) } },
    ])
  })

  it('records and delivers messages in the order of the agent', async () => {
    const { agent, bridge, events } = await openBridge()
    const { next } = attachClient(bridge, 'one')
    for (let n = 0; n < 200; n += 1) agent.emit(note(n))
    const delivered: unknown[] = []
    for (let n = 0; n < 200; n += 1) delivered.push(await next())
    const order = Array.from({ length: 200 }, (_, n) => n)
    expect(delivered).toMatchObject(order.map(note))
    expect(await events('agent.message')).toMatchObject(order.map((n) => ({ data: { message: note(n) } })))
  })

  it('records messages to the agent in the order in which it gets them', async () => {
    const { agent, bridge, events } = await openBridge()
    const { send } = attachClient(bridge, 'one')
    const order = Array.from({ length: 50 }, (_, n) => n)
    await Promise.all(order.map((n) => send(note(n))))
    expect(agent.received).toMatchObject(order.map(note))
    expect(await events('agent.message')).toMatchObject(order.map((n) => ({ data: { message: note(n) } })))
  })

  it('commits derived events with a message or in its place, and then calls onCommitted', async () => {
    const committed: string[] = []
    const { agent, bridge, events } = await openBridge({
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
    const { next } = attachClient(bridge, 'one')
    agent.emit(note(1), { method: 'other' })
    await next()
    await next()
    expect(committed).toEqual(['note'])
    expect((await events()).slice(1)).toMatchObject([
      { type: 'agent.message', session: 'ses_1', data: { replay: true } },
      { type: 'log.message' },
      { type: 'foreign.event' },
    ])
  })

  it('calls onCommitFailed when a message to the agent cannot be committed', async () => {
    const lost: unknown[] = []
    const gated = gatedStore()
    const { bridge } = await openBridge(
      { interpret: () => ({ onCommitFailed: (error) => void lost.push(error) }) },
      gated.driver,
    )
    const { send } = attachClient(bridge, 'one')
    gated.gate = async () => {
      throw new VitrineError('internal', 'The disk is gone.')
    }
    await expect(send({ method: 'hello' })).rejects.toBeDefined()
    expect(lost).toHaveLength(1)
    gated.gate = undefined
  })
})

describe('bridge clients', () => {
  it('keeps requests of two clients with the same id separate (sandbox-agent answers neither)', async () => {
    const { agent, bridge } = await openBridge()
    const [one, two] = [attachClient(bridge, 'one'), attachClient(bridge, 'two')]
    await one.send({ id: 1, method: 'who' })
    await two.send({ id: 1, method: 'who' })
    await two.send({ id: 'x', method: 'who' })
    expect(agent.received).toMatchObject([{ id: 1 }, { id: 2 }, { id: 3 }])
    agent.emit({ id: 3, result: 'third' }, { id: 2, result: 'second' }, { id: 1, result: 'first' })
    expect(await one.next()).toMatchObject({ id: 1, result: 'first' })
    expect(await two.next()).toMatchObject({ id: 'x', result: 'third' })
    expect(await two.next()).toMatchObject({ id: 1, result: 'second' })
  })

  it('delivers a request to all clients that handle it, and takes the first response', async () => {
    const { agent, bridge, events } = await openBridge()
    const byOther: unknown[] = []
    const handles = (method: string) => method === 'may-i'
    const one = attachClient(bridge, 'one', { handlesRequest: handles })
    const two = attachClient(bridge, 'two', {
      handlesRequest: handles,
      onAnsweredByOther: (response) => void byOther.push(response),
    })
    agent.emit({ id: 7, method: 'may-i' })
    expect([await one.next(), await two.next()]).toMatchObject([{ id: 7 }, { id: 7 }])
    await one.send({ id: 7, result: 'yes' })
    await two.send({ id: 7, result: 'no' })
    expect(agent.received).toEqual([{ jsonrpc: '2.0', id: 7, result: 'yes' }])
    expect(byOther).toMatchObject([{ result: 'yes' }])
    expect(await events('log.message')).toMatchObject([
      {
        data: { message: 'The bridge client two responded to a request of memory that is not open (id 7).' },
      },
    ])
    // The id is free again.
    agent.emit({ id: 7, method: 'may-i' })
    await two.next()
    await two.send({ id: 7, result: 'now' })
    expect(agent.received.at(-1)).toMatchObject({ id: 7, result: 'now' })
  })

  it('delivers only the notifications that a client wants', async () => {
    const { agent, bridge } = await openBridge()
    const { next } = attachClient(bridge, 'one', { wantsNotification: (method) => method === 'b' })
    agent.emit({ method: 'a' }, { method: 'b' })
    expect(await next()).toMatchObject({ method: 'b' })
  })

  it('detaches a client and drops the responses to its requests', async () => {
    const { agent, bridge, events } = await openBridge()
    const [one, two] = [attachClient(bridge, 'one'), attachClient(bridge, 'two')]
    await one.send({ id: 1, method: 'who' })
    one.client.close()
    agent.emit({ id: 1, result: 'late' }, note(1))
    expect(await two.next()).toMatchObject(note(1))
    expect((await events('log.message'))[0]?.data.message).toContain('a request that is not open (id 1)')
  })

  it('isolates the agent and other clients from a client that throws or does not read', async () => {
    const { agent, bridge } = await openBridge()
    const broken = () => {
      throw new Error('broken')
    }
    attachClient(bridge, 'broken', {
      wantsNotification: broken,
      handlesRequest: broken,
      onAnsweredByOther: broken,
    })
    const idle = attachClient(bridge, 'idle')
    const one = attachClient(bridge, 'one', {
      handlesRequest: () => true,
      wantsNotification: (method) => method === 'last',
    })
    for (let n = 0; n < 10_010; n += 1) agent.emit(note(n))
    agent.emit({ id: 1, method: 'may-i' }, { method: 'last' })
    expect(await one.next()).toMatchObject({ id: 1 })
    await one.send({ id: 1, result: 'yes' })
    expect(await one.next()).toMatchObject({ method: 'last' })
    await expect(idle.next()).rejects.toMatchObject({ code: 'reader_fell_behind' })
  })

  it('pauses the agent instead of dropping a mustNotDrop client, and resumes after its responses', async () => {
    const { agent, bridge, events } = await openBridge()
    const one = attachClient(bridge, 'one', { handlesRequest: () => true, mustNotDrop: true })
    const ids = Array.from({ length: 12_000 }, (_, id) => id)
    agent.emit(...ids.map((id) => ({ id, method: 'may-i' })))
    expect(agent.calls).toEqual(['pause'])
    for (const id of ids) expect(await one.next()).toMatchObject({ id })
    for (const id of ids.slice(0, 11_500)) await one.send({ id, result: {} })
    expect(agent.calls).toEqual(['pause'])
    await one.send({ id: 11_500, result: {} })
    expect(agent.calls).toEqual(['pause', 'resume'])
    expect(await events('limit.reached')).toMatchObject([
      { data: { limit: 'agent.openRequests', max: 1_000 } },
    ])
  })

  it('pauses an agent that does not read the error responses to unhandled requests', async () => {
    const { agent } = await openBridge()
    const taken = Promise.withResolvers<void>()
    agent.onWrite = () => taken.promise
    for (let batch = 0; batch < 10; batch += 1) {
      const ids = Array.from({ length: 1_000 }, (_, n) => batch * 1_000 + n)
      agent.emit(...ids.map((id) => ({ id, method: 'odd' })))
      await new Promise((resolve) => setImmediate(resolve))
      if (agent.calls.at(-1) === 'pause') break
    }
    await expect.poll(() => agent.calls.at(-1)).toBe('pause')
    taken.resolve()
    await expect.poll(() => agent.calls.at(-1)).toBe('resume')
  })

  it('resumes reading after the exit of a paused agent', async () => {
    const { agent, bridge } = await openBridge()
    attachClient(bridge, 'one', { handlesRequest: () => true, mustNotDrop: true })
    agent.emit(...Array.from({ length: 1_001 }, (_, id) => ({ id, method: 'may-i' })))
    expect(agent.calls).toEqual(['pause'])
    agent.exit()
    await bridge.closed
    expect(agent.calls).toEqual(['pause', 'resume'])
  })

  it('fails clients with the exit of the agent, present and later ones', async () => {
    const { agent, bridge } = await openBridge()
    const one = attachClient(bridge, 'one')
    const waiting = one.next().catch((error) => error)
    agent.exit({ ...cleanExit, exitCode: 7, stderr: { head: 'oh no', lines: 1 } })
    expect(await waiting).toMatchObject({ code: 'agent_exited', details: { exitCode: 7 } })
    expect((await waiting).message).toContain('oh no')
    const late = attachClient(bridge, 'late')
    await expect(late.next()).rejects.toMatchObject({ code: 'agent_exited' })
    await expect(late.send({ method: 'hello' })).rejects.toMatchObject({ code: 'agent_exited' })
  })
})

describe('protocol violations of an agent', () => {
  it('responds with -32601 to a request that no client handles', async () => {
    const { agent, bridge, events } = await openBridge()
    const { next } = attachClient(bridge, 'one')
    agent.emit({ id: 'q', method: 'craft/drain' }, note(1))
    await next()
    await expect.poll(() => agent.received).toMatchObject([{ id: 'q', error: { code: -32_601 } }])
    expect(await events('agent.message')).toHaveLength(3)
  })

  it('rejects a request that reuses an open id, without interpreting it', async () => {
    const interpreted: unknown[] = []
    const { agent, bridge } = await openBridge({
      interpret: (envelope, direction) => {
        if (envelope.kind !== 'notification') interpreted.push([envelope.kind, direction])
        return {}
      },
    })
    const one = attachClient(bridge, 'one', { handlesRequest: () => true })
    agent.emit({ id: 1, method: 'may-i' }, { id: 1, method: 'may-i' }, { id: '1', method: 'may-i' })
    expect(await one.next()).toMatchObject({ id: 1 })
    expect(await one.next()).toMatchObject({ id: '1' })
    await expect.poll(() => agent.received).toMatchObject([{ id: 1, error: { code: -32_600 } }])
    await one.send({ id: 1, result: 'yes' })
    expect(agent.received.at(-1)).toMatchObject({ id: 1, result: 'yes' })
    expect(interpreted).toEqual([
      ['request', 'out'],
      ['request', 'out'],
      ['response', 'in'],
    ])
  })

  it('only logs a response with an unknown request id', async () => {
    const { agent, bridge, events } = await openBridge()
    const one = attachClient(bridge, 'one')
    await one.send({ id: 5, method: 'who' })
    agent.emit({ id: 99, result: {} }, { id: '1', result: {} }, { id: null, error: { code: 1 } })
    agent.emit({ id: 1, result: 'me' }, { id: 1, result: 'me again' }, note(1))
    expect(await one.next()).toMatchObject({ id: 5, result: 'me' })
    expect(await one.next()).toMatchObject(note(1))
    expect(await events('log.message')).toHaveLength(4)
  })

  it('records output that is not a message as bytes', async () => {
    const { agent, bridge, events } = await openBridge()
    const { next } = attachClient(bridge, 'one')
    agent.bytes('Welcome!\nto the agent\n')
    agent.bytes(Buffer.from([0xff, 0xfe, 0x0a]))
    agent.emit(note(1))
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

  it('ends an agent whose message is too long, and records the limit', async () => {
    const { agent, bridge, events } = await openBridge({ maxMessageBytes: 1_000 })
    const one = attachClient(bridge, 'one')
    const waiting = one.next().catch((error) => error)
    agent.bytes('x'.repeat(1_001))
    expect(await waiting).toMatchObject({ code: 'agent_protocol_error', details: { agent: 'memory' } })
    expect((await waiting).message).toContain('more than 1000 bytes')
    expect(await events('limit.reached')).toMatchObject([
      { data: { limit: 'agent.messageBytes', max: 1_000 } },
    ])
    expect(await events('agent.exited')).toMatchObject([{ data: { endedBy: 'host' } }])
  })

  it('ends a program whose output has no messages, but resets the count at each message', async () => {
    const { agent, bridge, events } = await openBridge()
    const chatter = `${'a log line\n'.repeat(30_000)}`
    for (let n = 0; n < 10; n += 1) {
      agent.bytes(chatter)
      agent.emit(note(n))
    }
    const { next } = attachClient(bridge, 'one')
    await next()
    expect(await events('limit.reached')).toEqual([])
    for (let n = 0; n < 10; n += 1) agent.bytes(chatter)
    await bridge.closed
    expect(await events('limit.reached')).toMatchObject([{ data: { limit: 'agent.unparsedBytes' } }])
    expect(bridge.exitError().message).toContain('does not speak the Agent Client Protocol')
  })

  it('ends an agent whose stdin is broken, unless it exits by itself', async () => {
    const { agent, bridge } = await openBridge()
    const one = attachClient(bridge, 'one')
    agent.onWrite = () => {
      agent.exit({ ...cleanExit, outcome: 'failed', exitCode: null, signal: 'SIGKILL' })
      throw new Error('write EPIPE')
    }
    await expect(one.send({ method: 'hello' })).rejects.toMatchObject({
      code: 'agent_exited',
      details: { signal: 'SIGKILL' },
    })
    const other = await openBridge()
    other.agent.onWrite = () => {
      throw new Error('write EPIPE')
    }
    await expect(attachClient(other.bridge, 'one').send({ method: 'hello' })).rejects.toMatchObject({
      code: 'agent_protocol_error',
      message: expect.stringContaining('closed its stdin'),
    })
    expect(other.agent.calls).toContain('end')
  })
})

describe('a slow or failing store', () => {
  const big = `${JSON.stringify({ jsonrpc: '2.0', method: 'note', params: { text: 'x'.repeat(1024 * 1024) } })}\n`

  it('pauses the agent above 8 MiB of uncommitted output, and resumes below 2', async () => {
    const gated = gatedStore()
    const { agent, bridge, events } = await openBridge({}, gated.driver)
    const { next } = attachClient(bridge, 'one')
    const open = Promise.withResolvers<void>()
    gated.gate = () => open.promise
    for (let n = 0; n < 8; n += 1) agent.bytes(big)
    expect(agent.calls).toEqual(['pause'])
    gated.gate = undefined
    open.resolve()
    for (let n = 0; n < 8; n += 1) await next()
    expect(agent.calls).toEqual(['pause', 'resume'])
    expect(await events('agent.message')).toHaveLength(8)
  })

  it('counts a KiB for each message, so that many small ones pause the agent too', async () => {
    const gated = gatedStore()
    const { agent, bridge } = await openBridge({}, gated.driver)
    attachClient(bridge, 'one')
    const open = Promise.withResolvers<void>()
    gated.gate = () => open.promise
    for (let n = 0; n < 8 * 1024; n += 1) agent.emit(note(n))
    expect(agent.calls).toEqual(['pause'])
    gated.gate = undefined
    open.resolve()
    await expect.poll(() => agent.calls).toEqual(['pause', 'resume'])
  })

  it('delivers nothing before it is committed, and everything afterwards', async () => {
    const gated = gatedStore()
    const { agent, bridge, events } = await openBridge({}, gated.driver)
    const { next, send } = attachClient(bridge, 'one')
    let refusals = 0
    gated.gate = async () => {
      refusals += 1
      throw new VitrineError('store_failing', 'The disk is full.')
    }
    agent.emit(note(1), note(2))
    const sent = send(note(3))
    let delivered = false
    const heard = next().then((message) => {
      delivered = true
      return message
    })
    await expect.poll(() => refusals).toBeGreaterThan(1)
    expect(delivered).toBe(false)
    expect(agent.received).toEqual([])
    gated.gate = undefined
    expect(await heard).toMatchObject(note(1))
    expect(await next()).toMatchObject(note(2))
    await sent
    expect(agent.received).toMatchObject([note(3)])
    expect(await events('agent.message')).toHaveLength(3)
  })

  it('ends an agent whose messages cannot be committed', async () => {
    const { agent, bridge, store } = await openBridge()
    const { next } = attachClient(bridge, 'one')
    const waiting = next().catch((error) => error)
    await store.close()
    agent.emit(note(1))
    expect(await waiting).toMatchObject({ code: 'agent_exited' })
    expect(agent.calls).toContain('end')
  })

  it('does not start an agent whose start cannot be recorded', async () => {
    const gated = gatedStore()
    const { store, journal } = await openBridge({}, gated.driver)
    await store.close()
    const { Bridge } = await import('../../src/bridge/bridge.ts')
    const { MemoryTransport } = await import('./fixture.ts')
    const transport = new MemoryTransport()
    await expect(
      Bridge.open({ agent: 'late', transport, journal, interpret: () => ({}) }),
    ).rejects.toMatchObject({
      code: 'store_closed',
    })
    expect(transport.calls).toEqual(['end'])
  })
})
