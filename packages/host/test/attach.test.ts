import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { commandPolicy, type Host, local } from '../src/index.ts'
import { dataFolder, open } from './fixtures/data.ts'

const none = { isolation: 'none' } as const
const noTouch = commandPolicy({ deny: ['touch *'], otherwise: 'allow' })

async function attachOperations(host: Host, id: string): Promise<unknown[]> {
  const journal = await host.store.journal(id)
  const { events } = await journal.read({ types: ['operation.started'] })
  return events.flatMap(({ data }) => ('op' in data && data.op === 'attach' ? [data] : []))
}

describe('an attach to a stopped sandbox', () => {
  it('says which functions are missing and how to give them', async () => {
    const data = dataFolder()
    const first = await open(data)
    const policy = commandPolicy({ ask: ['touch *'] })
    const sandbox = await first.create({ id: 'one', local: none, policy, onAsk: () => true })
    await sandbox.lifecycle.onBeforeStop(function saveAll() {})
    await first.close()
    const host = await open(data)
    await expect(host.attach('one')).rejects.toMatchObject({
      code: 'attach_incomplete',
      message: expect.stringMatching(/onAsk and hooks\.beforeStop \(saveAll\).*attach\('one'/),
      details: { missing: ['onAsk', 'hooks.beforeStop (saveAll)'] },
    })
    await expect(host.attach('one', { onAsk: () => true })).rejects.toThrow('hooks.beforeStop (saveAll)')
    const again = await host.attach('one', { onAsk: () => true, hooks: { beforeStop: ['true'] } })
    expect(await again.exec('touch x')).toMatchObject({ outcome: 'ok' })
  })

  it('replaces the policy for good if it is told so, and records it', async () => {
    const data = dataFolder()
    const first = await open(data)
    await first.create({ id: 'one', local: none, policy: noTouch })
    await first.close()
    const second = await open(data)
    await second.attach('one', { policy: noTouch })
    expect(await attachOperations(second, 'one')).toEqual([])
    await second.close()
    const third = await open(data)
    const policy = commandPolicy({ deny: ['rm *'], otherwise: 'allow' })
    await third.attach('one', { policy })
    expect(await attachOperations(third, 'one')).toMatchObject([{ policy: { deny: ['rm *'] } }])
    await third.close()
    const fourth = await open(data)
    const sandbox = await fourth.find('one')
    expect(await sandbox.exec('touch x')).toMatchObject({ outcome: 'ok' })
    await expect(sandbox.exec('rm x')).rejects.toMatchObject({ code: 'gate_refused' })
  })

  it('does not replace the policy if the start fails', async () => {
    const data = dataFolder()
    const first = await open(data)
    await first.create({ id: 'one', local: none, policy: noTouch })
    await first.close()
    const second = await open(data)
    const path = process.env.PATH
    process.env.PATH = data
    onTestFinished(() => {
      process.env.PATH = path
    })
    const given = { policy: commandPolicy({ otherwise: 'allow' }), isolation: 'bubblewrap' } as const
    await expect(second.attach('one', given)).rejects.toMatchObject({ code: 'isolation_unavailable' })
    process.env.PATH = path
    const sandbox = await second.attach('one')
    expect(sandbox.capabilities.isolation).toBe('none')
    await expect(sandbox.exec('touch x')).rejects.toMatchObject({ code: 'gate_refused' })
  })

  it('takes rules, and refuses a copy of compiled ones, as does the creation of a sandbox', async () => {
    const host = await open(dataFolder())
    const policy = { ...noTouch }
    await expect(host.create({ local: none, policy })).rejects.toMatchObject({ code: 'argument_invalid' })
    const sandbox = await host.create({ id: 'one', local: none, policy: noTouch })
    await sandbox.lifecycle.stop()
    await expect(host.attach('one', { policy })).rejects.toMatchObject({ code: 'argument_invalid' })
    expect(await host.list()).toMatchObject([{ id: 'one', state: 'stopped' }])
    const again = await host.attach('one', { policy: { deny: ['rm *'], otherwise: 'allow' } })
    await again.exec('touch x')
    await expect(again.exec('rm x')).rejects.toMatchObject({ code: 'gate_refused' })
  })

  it('masks the secrets that are given with it', async () => {
    const data = dataFolder()
    const first = await open(data)
    await first.create({ id: 'one', local: none })
    await first.close()
    const host = await open(data)
    const sandbox = await host.attach('one', { secrets: { token: 'pomegranate-7' } })
    await sandbox.exec('echo pomegranate-7')
    expect(JSON.stringify((await sandbox.journal.read()).events)).not.toContain('pomegranate-7')
  })

  it('restores the isolation of a record without a version from the journal', async () => {
    const data = dataFolder()
    const first = await open(data)
    await first.create({ id: 'one' })
    await first.close()
    withoutVersion(data, 'one')
    const host = await open(data, { providers: [local({ isolation: 'none' })] })
    expect((await host.attach('one')).capabilities.isolation).toBe('namespaces')
  })

  it('is refused if a record without a version had a policy, unless it is given', async () => {
    const data = dataFolder()
    const first = await open(data)
    const sandbox = await first.create({ id: 'one', local: none, policy: noTouch })
    await sandbox.exec('echo judged')
    await first.close()
    withoutVersion(data, 'one')
    const host = await open(data)
    await expect(host.find('one')).rejects.toMatchObject({
      code: 'attach_incomplete',
      details: { missing: ['policy'] },
    })
    const again = await host.attach('one', { policy: noTouch })
    await expect(again.exec('touch x')).rejects.toMatchObject({ code: 'gate_refused' })
  })
})

/** Rewrites a record as it was stored before records had a version. */
function withoutVersion(data: string, name: string): void {
  const path = join(data, 'records', `${name}.json`)
  const { id, provider, state, createdAt, labels, directory } = JSON.parse(readFileSync(path, 'utf8'))
  const stored = { id, provider, state, createdAt, labels, directory, local: {} }
  writeFileSync(path, JSON.stringify(stored))
}

describe('an attach to a running sandbox', () => {
  it('returns it, and refuses another policy', async () => {
    const host = await open(dataFolder())
    const sandbox = await host.create({ id: 'one', local: none, policy: noTouch })
    expect(await host.attach('one', { policy: noTouch })).toBe(sandbox)
    const policy = commandPolicy({ otherwise: 'allow' })
    await expect(host.attach('one', { policy })).rejects.toMatchObject({
      code: 'sandbox_running',
      message: expect.stringContaining('policy'),
    })
    await sandbox.lifecycle.stop()
    const again = await host.attach('one', { policy })
    expect(await again.exec('touch x')).toMatchObject({ outcome: 'ok' })
  })
})

describe('a host with a floor', () => {
  const floor = { isolation: 'bubblewrap' } as const

  it('refuses sandboxes without isolation or with root, and isolates all others', async () => {
    const host = await open(dataFolder(), { floor })
    await expect(host.create({ local: none })).rejects.toMatchObject({
      code: 'below_floor',
      message: expect.stringContaining('local.isolation'),
    })
    await expect(host.create({ local: { user: 'root' } })).rejects.toMatchObject({
      code: 'below_floor',
      message: expect.stringContaining('local.user'),
    })
    expect(await host.list()).toEqual([])
    const sandbox = await host.create({ local: { isolation: 'auto' } })
    expect(sandbox.capabilities.isolation).toBe('namespaces')
  })

  it('refuses a sandbox of an earlier host that had less, and lets it come back with more', async () => {
    const data = dataFolder()
    const first = await open(data)
    await first.create({ id: 'one', local: none })
    await first.close()
    const host = await open(data, { floor })
    await expect(host.attach('one')).rejects.toMatchObject({ code: 'below_floor' })
    await expect(host.find('one')).rejects.toMatchObject({ code: 'below_floor' })
    await expect(host.attach('one', { isolation: 'none' })).rejects.toMatchObject({ code: 'below_floor' })
    expect(await host.list()).toMatchObject([{ id: 'one', state: 'stopped' }])
    const sandbox = await host.attach('one', { isolation: 'bubblewrap' })
    expect(sandbox.capabilities.isolation).toBe('namespaces')
  })
})
