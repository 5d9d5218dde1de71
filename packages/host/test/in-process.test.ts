import { existsSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { SandboxClient } from '@vitrine/protocol'
import { describe, expect, expectTypeOf, it, onTestFinished } from 'vitest'
import {
  type HostSandbox,
  type InProcessClient,
  type InProcessContext,
  inProcessSandboxClient,
} from '../src/index.ts'

async function created(client: InProcessClient): Promise<HostSandbox> {
  const sandbox = await client.create()
  onTestFinished(() => sandbox.close())
  return sandbox
}

describe('a sandbox whose agent is a function', () => {
  it('comes from a client that is a SandboxClient, without a cast', () => {
    const client: SandboxClient = inProcessSandboxClient({ onPrompt: () => [{ type: 'done', data: {} }] })
    expectTypeOf(inProcessSandboxClient).returns.toExtend<SandboxClient>()
    expectTypeOf<InProcessContext['workdir']>().toEqualTypeOf<string | undefined>()
    expect(Object.keys(client)).toContain('create')
  })

  it.each([
    ['with its directory', 'box-'],
    ['without a directory', undefined],
  ])('gives the function its round, signal and session, %s', async (_, workdir) => {
    const contexts: InProcessContext[] = []
    const client = inProcessSandboxClient({
      ...(workdir !== undefined && { workdir }),
      onPrompt: (_prompt, context) => void contexts.push(context),
    })
    const sandbox = await created(client)
    const [one, two] = [
      await sandbox.openSession({ agent: 'in-process' }),
      await sandbox.openSession({ agent: 'in-process' }),
    ]
    for (const session of [one, one, two]) await session.prompt('go')
    expect(contexts.map(({ round, session }) => [round, session])).toEqual([
      [0, one.id],
      [1, one.id],
      [0, two.id],
    ])
    const [context] = contexts
    expect(context?.signal).toBeInstanceOf(AbortSignal)
    expect(context?.workdir).toBe(workdir && sandbox.root)
    expect(Object.hasOwn(context ?? {}, 'workdir')).toBe(workdir !== undefined)
  })

  it('counts its rounds and records strings, updates and events of any vocabulary', async () => {
    const client = inProcessSandboxClient({
      async *onPrompt(prompt, { round }) {
        yield `${round}: ${prompt}`
        yield { sessionUpdate: 'plan', entries: [{ content: 'one', priority: 'low', status: 'pending' }] }
        yield { type: 'turn.started', data: { mine: true }, id: 'e1' }
      },
    })
    const sandbox = await created(client)
    const session = await sandbox.openSession({ agent: 'in-process' })
    expect(await session.prompt('first')).toMatchObject({ outcome: 'ok', stopReason: 'end_turn' })
    await session.prompt('second')
    const text = JSON.stringify(await session.transcript())
    expect(text).toContain('0: first')
    expect(text).toContain('1: second')
    const { events } = await sandbox.journal.read({ types: ['foreign.event'] })
    expect(events.map(({ data }) => data)).toEqual([
      { type: 'turn.started', data: { mine: true }, id: 'e1' },
      { type: 'turn.started', data: { mine: true }, id: 'e1' },
    ])
  })

  it('accepts a string, an array, undefined and promises of them', async () => {
    const answers = [() => 'a text', () => ['a list'], () => undefined, async () => ['a promise']]
    const client = inProcessSandboxClient({ onPrompt: (_prompt, { round }) => answers[round]?.() })
    const session = await (await created(client)).openSession({ agent: 'in-process' })
    for (const _ of answers) await session.prompt('go')
    const text = JSON.stringify(await session.transcript())
    for (const said of ['a text', 'a list', 'a promise']) expect(text).toContain(said)
  })

  it.each(['close', 'destroy'] as const)(
    'has a real directory with the given prefix for files, commands and the function, until %s',
    async (how) => {
      const client = inProcessSandboxClient({
        workdir: 'box-',
        onPrompt(prompt, { workdir = '' }) {
          writeFileSync(join(workdir, 'b.txt'), prompt)
          return 'done'
        },
      })
      const sandbox = await created(client)
      await sandbox.files.write('a.txt', 'x')
      await (await sandbox.openSession({ agent: 'in-process' })).prompt('y')
      expect((await sandbox.exec('cat a.txt b.txt')).stdout).toBe('xy')
      const { root } = sandbox
      expect(root.split('/').some((part) => basename(part).startsWith('box-'))).toBe(true)
      await (how === 'close' ? sandbox.close() : sandbox.lifecycle.destroy())
      expect(existsSync(root)).toBe(false)
      await expect(client.attach(sandbox.id)).rejects.toMatchObject({ code: 'sandbox_destroyed' })
    },
  )

  it('has the configured ids', async () => {
    const numbered = inProcessSandboxClient({ id: (sequence) => `box-${sequence}`, onPrompt: () => '' })
    const one = await created(numbered)
    const two = await created(numbered)
    expect([one.id, two.id]).toEqual(['box-1', 'box-2'])
    expect(await numbered.attach('box-2')).toBe(two)
    const named = inProcessSandboxClient({ id: 'only', onPrompt: () => '' })
    const first = created(named)
    await expect(named.create()).rejects.toMatchObject({ code: 'sandbox_exists' })
    expect((await first).id).toBe('only')
    await expect(named.create()).rejects.toMatchObject({ code: 'sandbox_exists' })
  })

  it('is cancelled even if it ignores its signal, and its exception is the turn’s error', async () => {
    const client = inProcessSandboxClient({
      onPrompt: async (prompt) => {
        if (prompt === 'fail') throw new Error('no such luck')
        await sleep(60_000, undefined, { ref: false })
        return []
      },
    })
    const session = await (await created(client)).openSession({ agent: 'in-process' })
    await expect(session.prompt('fail')).rejects.toMatchObject({
      code: 'agent_failed',
      message: expect.stringContaining('no such luck'),
    })
    const waiting = session.prompt('wait')
    await expect.poll(() => session.info.busy).toBe(true)
    await session.cancel()
    expect(await waiting).toMatchObject({ outcome: 'cancelled' })
  })
})
