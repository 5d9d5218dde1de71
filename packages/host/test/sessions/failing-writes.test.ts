import type { CommitBatch, StoreDriver } from '@vitrine/journal'
import { memoryStore } from '@vitrine/journal'
import { local } from '@vitrine/sandbox'
import { expect, it } from 'vitest'
import { dataFolder, open as openHost } from '../fixtures/data.ts'
import { allEvents, checkLaws, endSessions, eventsOf, script } from './fixture.ts'

/** A store in memory that refuses commits with an event of a type, the first times. */
function refusing(type: string, times: number): StoreDriver {
  const memory = memoryStore()
  let left = times
  return {
    kind: 'refusing',
    async open(options) {
      const connection = await memory.open(options)
      const commit = async (batch: CommitBatch) => {
        if (left > 0 && batch.entries.some(({ event }) => event.type === type)) {
          left -= 1
          throw new Error(`refused ${type}`)
        }
        await connection.commit(batch)
      }
      return new Proxy(connection, {
        get(target, key) {
          if (key === 'commit') return commit
          const value = Reflect.get(target, key)
          return typeof value === 'function' ? value.bind(target) : value
        },
      })
    },
  }
}

const asking = script(
  'asking',
  `on('session/prompt', async ({ id, sessionId, prompt }) => {
    const toolCall = { toolCallId: 'call', kind: 'edit', title: 'Edit' }
    if (prompt[0].text === 'ask') {
      update(sessionId, { sessionUpdate: 'session_info_update', title: 'Asking' })
      await ask('session/request_permission', { sessionId, toolCall, options })
      await ask('elicitation/create', { sessionId, mode: 'form', message: 'Which?', requestedSchema: {} })
    }
    reply(id, { stopReason: 'end_turn' })
  })`,
)

async function scene(type: string, times: number) {
  const host = await openHost(dataFolder(), {
    store: refusing(type, times),
    agents: [asking],
    providers: [local({ isolation: 'none', watch: false })],
  })
  const sandbox = await host.create({ id: 'one' })
  const permissions = { default: 'allow', timeoutMs: 50 } as const
  const session = await sandbox.openSession({ agent: 'asking', permissions })
  return { sandbox, session }
}

const derived = [
  'permission.requested',
  'permission.resolved',
  'question.requested',
  'question.resolved',
  'session.updated',
  'turn.finished',
  'limit.reached',
]

it.each(derived)(
  'ends a turn once, and with it all that it began, when the write of %s fails once',
  async (type) => {
    const { sandbox, session } = await scene(type, 1)
    await session.prompt('ask').catch(() => undefined)
    expect(await eventsOf(sandbox, 'turn.finished')).toHaveLength(1)
    const next = await sandbox.openSession({ agent: 'asking' })
    expect(await next.prompt('go on')).toMatchObject({ outcome: 'ok' })
    await endSessions(sandbox)
    await checkLaws(sandbox.journal)
  },
)

it.each(derived.filter((type) => type.endsWith('.requested') || type === 'session.updated'))(
  'ends a turn once when %s can never be written',
  async (type) => {
    const { sandbox, session } = await scene(type, Number.POSITIVE_INFINITY)
    const error = await session.prompt('ask').then(
      () => undefined,
      (thrown: unknown) => thrown,
    )
    expect(error).toMatchObject({ code: 'agent_exited' })
    expect((await eventsOf(sandbox, 'turn.finished')).map(({ data }) => data.outcome)).toEqual(['failed'])
    await endSessions(sandbox)
    await checkLaws(sandbox.journal)
  },
)

it('ends a turn once when the ends of its requests can never be written, which stay open', async () => {
  const { sandbox, session } = await scene('permission.resolved', Number.POSITIVE_INFINITY)
  await session.prompt('ask').catch(() => undefined)
  const types = (await allEvents(sandbox.journal)).map(({ type }) => type)
  expect(types.filter((type) => type === 'turn.finished')).toHaveLength(1)
})

it('settles a prompt whose end can never be written with the error', async () => {
  const { session } = await scene('turn.finished', Number.POSITIVE_INFINITY)
  await expect(session.prompt('go')).rejects.toThrow('refused turn.finished')
  expect(session.info.busy).toBe(false)
})
