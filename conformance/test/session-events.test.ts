import { mkdtemp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { connect } from '@vitrine/client'
import { createSandbox, type FunctionAgent, local, openHost } from '@vitrine/host'
import type { JournalGap, KnownEvent, Session } from '@vitrine/protocol'
import { createServer, listen } from '@vitrine/server'
import { describe, expect, expectTypeOf, it, onTestFinished } from 'vitest'
import { eventually } from '../src/waiting/within.ts'

const echo: FunctionAgent = { name: 'echo', onPrompt: (prompt) => [prompt] }
const plain = local({ isolation: 'none', watch: false })

async function openInProcess(): Promise<Session> {
  const sandbox = await createSandbox({ provider: plain, agents: [echo] })
  onTestFinished(() => sandbox.close())
  return sandbox.openSession({ agent: 'echo' })
}

async function openOverHttp(): Promise<Session> {
  const data = await mkdtemp(join('/var/tmp', 'vitrine-session-events-'))
  const host = await openHost({ data, agents: [echo], install: 'never' })
  const token = 'session-events-token'
  const server = createServer({ host, tokens: [{ name: 'test', token, access: 'full' }] })
  const daemon = await listen(server, { port: 0 })
  const client = connect({ url: daemon.url, token })
  onTestFinished(async () => {
    await client.close()
    await daemon.close()
    await host.close()
    await rm(data, { recursive: true, force: true })
  })
  const sandbox = await client.create({ local: { ...plain.options, user: 'root' } })
  return sandbox.openSession({ agent: 'echo' })
}

describe.each([
  ['in process', openInProcess],
  ['over HTTP', openOverHttp],
])('the events of a session %s', (_, open) => {
  it('have the types that events() is asked for', async () => {
    const session = await open()
    await session.prompt('hello')
    const seen: unknown[] = []
    for await (const item of session.events({ types: ['turn.started', 'turn.finished'] })) {
      expectTypeOf(item).toEqualTypeOf<KnownEvent<'turn.started' | 'turn.finished'> | JournalGap>()
      seen.push(item.type)
      if (item.type === 'turn.finished') break
    }
    expect(seen).toEqual(['turn.started', 'turn.finished'])
  })

  it('have the types that a listener is added for', async () => {
    const session = await open()
    const outcomes: unknown[] = []
    const types = new Set<string>()
    session.onEvent(
      (event) => {
        expectTypeOf(event).toEqualTypeOf<KnownEvent<'turn.finished'>>()
        outcomes.push(event.data.outcome)
      },
      { types: ['turn.finished'] },
    )
    session.onEvent(({ type }) => types.add(type), { types: ['turn.*'] })
    await session.prompt('one')
    await session.prompt('two')
    await eventually('both ends', () => outcomes.length === 2)
    expect(outcomes).toEqual(['ok', 'ok'])
    expect(types).toEqual(new Set(['turn.started', 'turn.finished']))
  })

  it('are refused for an unknown option, and to a listener for types that are no list', async () => {
    const session = await open()
    const refused = { code: 'argument_invalid' }
    const wrong: object[] = [{ type: ['turn.*'] }, { types: 'turn.*' }, { types: [1] }]
    for (const options of wrong)
      expect(() => session.onEvent(() => undefined, options)).toThrow(expect.objectContaining(refused))
    const read = async () => session.events(wrong[0]).next()
    await expect(read()).rejects.toMatchObject(refused)
  })
})
