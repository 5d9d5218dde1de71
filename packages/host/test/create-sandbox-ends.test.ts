import { mkdirSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { randomHex } from '@vitrine/protocol'
import { createLocalSandbox } from '@vitrine/sandbox'
import { describe, expect, it } from 'vitest'
import { eventually } from '../../../conformance/src/waiting/within.ts'
import { createSandbox, type HostSandbox, inProcessSandboxClient, local } from '../src/index.ts'
import { dataFolder } from './fixtures/data.ts'

interface EndableSandbox {
  close(): Promise<void>
  readonly lifecycle: { destroy(): Promise<void> }
}

/** The ways to end a sandbox, alone and together, in every order. */
const endings: readonly [string, (sandbox: EndableSandbox) => Promise<unknown>][] = [
  ['close', (sandbox) => sandbox.close()],
  ['destroy', (sandbox) => sandbox.lifecycle.destroy()],
  ['destroy and close', async (sandbox) => [await sandbox.lifecycle.destroy(), await sandbox.close()]],
  ['close and destroy', async (sandbox) => [await sandbox.close(), await sandbox.lifecycle.destroy()]],
  [
    'destroy and close at once',
    (sandbox) => Promise.all([sandbox.lifecycle.destroy(), sandbox.close(), sandbox.lifecycle.destroy()]),
  ],
  [
    'close and destroy at once',
    (sandbox) => Promise.all([sandbox.close(), sandbox.lifecycle.destroy(), sandbox.close()]),
  ],
]

const withPrefix = (prefix: string) => readdirSync('/var/tmp').filter((name) => name.startsWith(prefix))

describe.each(endings)('%s', (how, end) => {
  it('leaves nothing of a script’s sandbox, and can be repeated', async () => {
    const prefix = `vitrine-ends-${randomHex(6)}-`
    const sandbox = await createSandbox({
      provider: local({ isolation: 'none' }),
      agents: [{ name: 'echo', onPrompt: (prompt) => [prompt] }],
      install: 'never',
      prefix,
    })
    const session = await sandbox.openSession({ agent: 'echo' })
    await session.prompt('hello')
    await sandbox.exec('touch "$HOME/file" file')
    expect(withPrefix(prefix)).toHaveLength(1)
    await end(sandbox)
    expect(withPrefix(prefix)).toEqual([])
    await end(sandbox)
    await end(sandbox.as({ actor: 'other' }))
    expect(await sandbox.lifecycle.running()).toBe(false)
    await expect(sandbox.exec('true')).rejects.toMatchObject({
      code: how.startsWith('destroy') ? 'sandbox_destroyed' : 'sandbox_not_running',
    })
  })

  it('leaves nothing beside a workspace that the caller gave', async () => {
    const above = dataFolder()
    const root = join(above, 'project')
    mkdirSync(root)
    const sandbox = await createSandbox({ provider: local({ root, isolation: 'none' }) })
    await sandbox.exec('touch "$HOME/file" kept')
    await end(sandbox)
    expect(readdirSync(root)).toEqual(['kept'])
    expect(readdirSync(join(above, '.vitrine'))).toEqual([])
  })

  it('leaves nothing of an in-process sandbox, whose id is free again', async () => {
    const workdir = `vitrine-ends-${randomHex(6)}-`
    const client = inProcessSandboxClient({ id: 'only', workdir, onPrompt: () => 'done' })
    for (const _round of [1, 2]) {
      const sandbox: HostSandbox = await client.create()
      await (await sandbox.openSession({ agent: 'in-process' })).prompt('go')
      expect(withPrefix(workdir)).toHaveLength(1)
      await end(sandbox)
      expect(withPrefix(workdir)).toEqual([])
      await expect(client.attach('only')).rejects.toMatchObject({ code: 'sandbox_destroyed' })
    }
  })

  it('keeps or removes the workspace of an engine’s sandbox, and ends its own store', async () => {
    const data = dataFolder()
    const sandbox = await createLocalSandbox({ provider: local({ data, isolation: 'none' }) })
    await sandbox.exec('touch kept')
    await end(sandbox)
    await end(sandbox)
    const isDestroyed = how !== 'close'
    expect(readdirSync(join(data, 'sandboxes'))).toEqual(isDestroyed ? [] : [sandbox.id])
    expect(await sandbox.lifecycle.running()).toBe(false)
    await expect(sandbox.exec('true')).rejects.toMatchObject({
      code: isDestroyed ? 'sandbox_destroyed' : 'sandbox_not_running',
    })
  })
})

it('the journal of a destroyed script’s sandbox stays readable through its handle, and a tail of it ends', async () => {
  const sandbox = await createSandbox({ provider: local({ isolation: 'none' }) })
  const tailed: string[] = []
  const following = (async () => {
    for await (const { type } of sandbox.journal.tail()) tailed.push(type)
  })()
  await sandbox.lifecycle.destroy()
  await expect(following).rejects.toMatchObject({ code: 'sandbox_destroyed' })
  const { events } = await sandbox.journal.read()
  expect(events.map(({ type }) => type)).toEqual(tailed)
  expect(tailed.filter((type) => type === 'sandbox.destroyed')).toHaveLength(1)
  expect(tailed.at(-1)).toBe('operation.finished')
})

it('a sandbox that cannot be created leaves nothing', async () => {
  const prefix = `vitrine-ends-${randomHex(6)}-`
  const failing = createSandbox({
    prefix,
    provider: local({ isolation: 'none' }),
    workspace: { setup: ['exit 3'] },
  })
  await expect(failing).rejects.toMatchObject({ code: expect.any(String) })
  expect(withPrefix(prefix)).toEqual([])
})

it('leaves nothing of a script’s sandbox at the end of its life, apart from its journal', async () => {
  const prefix = `vitrine-ends-${randomHex(6)}-`
  const sandbox = await createSandbox({
    provider: local({ isolation: 'none' }),
    install: 'never',
    prefix,
    ttlMs: 1,
  })
  await eventually('its end', () => withPrefix(prefix).length === 0)
  await expect(sandbox.exec('true')).rejects.toMatchObject({ code: 'sandbox_destroyed' })
  const { events } = await sandbox.journal.read({ types: ['sandbox.destroyed'] })
  expect(events).toMatchObject([{ data: { reason: 'ttl' } }])
})
