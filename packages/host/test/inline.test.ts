import type { SandboxClient } from '@vitrine/protocol'
import { describe, expect, expectTypeOf, it, onTestFinished } from 'vitest'
import { type HostSandbox, type InProcessClient, inlineSandboxClient } from '../src/index.ts'

async function created(client: InProcessClient): Promise<HostSandbox> {
  const sandbox = await client.create()
  onTestFinished(() => sandbox.close())
  return sandbox
}

const openSession = async (client: InProcessClient) =>
  (await created(client)).openSession({ agent: 'in-process' })

const never = () => new Promise<never>(() => undefined)

describe('a sandbox whose agent does one task', () => {
  it('comes from a client that is a SandboxClient, without a cast', () => {
    expectTypeOf(inlineSandboxClient).returns.toExtend<SandboxClient>()
  })

  it('shows an output while the executor waits for it to be seen', async () => {
    const seen = Promise.withResolvers<void>()
    const sandbox = await created(
      inlineSandboxClient(() => ({
        async *execute() {
          yield { type: 'progress', data: { done: 1 } }
          await seen.promise
          yield { type: 'progress', data: { done: 2 } }
        },
      })),
    )
    const tail = sandbox.journal.tail({ types: ['foreign.event'] })
    void tail.next().then(() => seen.resolve(), seen.reject)
    const session = await sandbox.openSession({ agent: 'in-process' })
    expect((await session.prompt('go')).outcome).toBe('ok')
  })

  it('shows its output as it comes, then its result, and tears it down', async () => {
    const down: string[] = []
    const client = inlineSandboxClient(() => ({
      async *execute(task: string) {
        yield { type: 'progress', data: { task } }
      },
      resultArtifact: () => ({ out: 'the answer', spent: { tokens: 3 } }),
      teardown: (grace) => down.push(grace),
    }))
    const sandbox = await created(client)
    const session = await sandbox.openSession({ agent: 'in-process' })
    await session.prompt('count')
    const { events } = await sandbox.journal.read({ types: ['foreign.event'] })
    expect(events.map(({ data }) => ('type' in data ? data.type : ''))).toEqual([
      'progress',
      'llm_call',
      'result',
      'done',
    ])
    expect(events[2]?.data).toMatchObject({ data: { finalText: 'the answer', tokenUsage: { tokens: 3 } } })
    expect(down).toEqual(['brutalKill'])
  })

  it('is torn down once when its task fails, and the error of the task is that of the turn', async () => {
    const down: string[] = []
    const executors = [
      {
        execute: async () => {
          throw new Error('no luck')
        },
      },
      {
        execute() {
          throw new Error('no luck')
        },
      },
      {
        async *execute() {
          yield 'begun'
          throw new Error('no luck')
        },
      },
    ]
    const client = inlineSandboxClient(({ round }) => ({
      ...(executors[round] ?? { execute: never }),
      teardown: (grace) => void down.push(grace),
    }))
    const session = await openSession(client)
    for (const _ of executors)
      await expect(session.prompt('go')).rejects.toMatchObject({
        code: 'agent_failed',
        message: expect.stringContaining('no luck'),
      })
    expect(down).toEqual(executors.map(() => 'brutalKill'))
  })

  it('fails with the error of its factory, and tears nothing down', async () => {
    const session = await openSession(
      inlineSandboxClient(() => {
        throw new Error('no executor')
      }),
    )
    await expect(session.prompt('go')).rejects.toMatchObject({
      code: 'agent_failed',
      message: expect.stringContaining('no executor'),
    })
  })

  it.each([
    ['never returns', () => never()],
    [
      'never yields again',
      async function* () {
        yield 'begun'
        await never()
      },
    ],
  ])('is torn down once when it is cancelled, also if its task %s', async (_, execute) => {
    const started = Promise.withResolvers<void>()
    let teardowns = 0
    const client = inlineSandboxClient(() => ({
      execute() {
        started.resolve()
        return execute()
      },
      teardown: () => {
        teardowns += 1
      },
    }))
    const session = await openSession(client)
    const turn = session.prompt('go')
    await started.promise
    await session.cancel()
    expect(await turn).toMatchObject({ outcome: 'cancelled' })
    await session.close()
    expect(teardowns).toBe(1)
  })

  it('tears down an executor that its factory creates after the turn was cancelled, without a task', async () => {
    const [asked, made] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const calls: string[] = []
    const client = inlineSandboxClient(async () => {
      asked.resolve()
      await made.promise
      return {
        execute: async () => void calls.push('execute'),
        teardown: () => void calls.push('teardown'),
      }
    })
    const session = await openSession(client)
    const turn = session.prompt('go')
    await asked.promise
    await session.cancel()
    expect(await turn).toMatchObject({ outcome: 'cancelled' })
    made.resolve()
    await expect.poll(() => calls).toEqual(['teardown'])
  })

  it('fails when its teardown fails after the task; after a failed task that error goes to onObserverError', async () => {
    const reported: string[] = []
    const client = inlineSandboxClient(
      () => ({
        execute: async (task) => {
          if (task === 'fail') throw new Error('of the task')
        },
        teardown: async () => {
          throw new Error('of the teardown')
        },
      }),
      { onObserverError: (error, { observer }) => reported.push(`${observer} ${error}`) },
    )
    const session = await openSession(client)
    await expect(session.prompt('work')).rejects.toThrow('of the teardown')
    expect(reported).toEqual([])
    await expect(session.prompt('fail')).rejects.toThrow('of the task')
    expect(reported).toEqual(['teardown Error: of the teardown'])
  })
})
