import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import type { CreateSandboxOptions, SandboxClient } from '@vitrine/protocol'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { bytesOf } from '../src/reader/blobs.ts'
import { InProcessDaemon } from './daemons.ts'
import { countProcesses } from './sandboxes.ts'

async function openDaemon(): Promise<InProcessDaemon> {
  const daemon = await InProcessDaemon.open()
  onTestFinished(() => daemon.close())
  return daemon
}

const clients: readonly [string, (daemon: InProcessDaemon) => SandboxClient][] = [
  ['a host', ({ host }) => host],
  ['a client over HTTP', ({ client }) => client],
]

const local = { isolation: 'none' } as const
const bytes = Uint8Array.from({ length: 256 }, (_, at) => at)

/** Plain JavaScript has no compiler to ask. */
const untyped = (options: unknown) => options as CreateSandboxOptions

/** The error without the name that a body has in a request. */
async function refusal(creating: Promise<unknown>): Promise<{ code: string; message: string }> {
  const error = await creating.then(
    () => expect.unreachable('the options were accepted'),
    (reason) => reason,
  )
  return { code: error.code, message: error.message.replace(/^(body\.|create options\.?)/, '') }
}

describe.each(clients)('a sandbox that %s creates', (_name, clientOf) => {
  let daemon: InProcessDaemon
  beforeAll(async () => {
    daemon = await InProcessDaemon.open()
  })
  afterAll(() => daemon.close())

  it('has the policy, egress, limits, environment, secrets, labels and workspace of its options', async () => {
    const client = clientOf(await openDaemon())
    const sandbox = await client.create({
      provider: 'local',
      local,
      policy: { deny: ['touch *'], otherwise: 'allow' },
      egress: ['example.com:443'],
      limits: { processes: 7 },
      env: { GREETING: 'hello' },
      secrets: { API_KEY: 'a-long-secret-value' },
      labels: { team: 'red' },
      workspace: { files: { 'a.txt': 'one' } },
    })
    const { stdout } = await sandbox.exec('printenv GREETING API_KEY; cat a.txt')
    expect(stdout).toBe('hello\na-long-secret-value\none')
    await expect(sandbox.exec('touch b')).rejects.toMatchObject({ code: 'gate_refused' })
    expect(await client.list({ labels: { team: 'red' } })).toMatchObject([{ id: sandbox.id }])
    const { events } = await sandbox.journal.read({ types: ['sandbox.created'] })
    expect(events).toMatchObject([{ data: { egress: ['example.com:443'] } }])
  })

  it('has the bytes of its manifest, in any form that a file may have', async () => {
    const sandbox = await clientOf(await openDaemon()).create({
      local,
      workspace: {
        files: {
          'plain.bin': bytes,
          'mode.bin': { content: bytes, mode: 0o640 },
          'buffer.bin': Buffer.from(bytes),
          'empty.bin': new Uint8Array(),
          'text.txt': '\u00e4',
        },
      },
    })
    const read = (path: string) => bytesOf(sandbox.files.read(path))
    for (const path of ['plain.bin', 'mode.bin', 'buffer.bin'])
      expect(new Uint8Array(await read(path)), path).toEqual(bytes)
    expect((await read('empty.bin')).byteLength).toBe(0)
    expect(String(await read('text.txt'))).toBe('\u00e4')
    expect((await sandbox.files.stat('mode.bin')).mode).toBe(0o640)
  })

  it.each([
    [{ image: 'node:24' }, 'unsupported', 'image: the provider local does not take this option.'],
    [{ spec: { size: 1 } }, 'unsupported', 'spec: the provider local does not take this option.'],
    [{ provider: 'moon' }, 'argument_invalid', 'provider: expected local, got "moon".'],
    [
      { env: { A: '1' }, local: { env: { B: '2' } } },
      'argument_invalid',
      'env: expected it once, got it also as local.env.',
    ],
    [{ limits: { pids: 0 } }, 'argument_invalid', 'limits.pids: '],
    [{ workspace: { files: { a: 5 } } }, 'argument_invalid', 'workspace.files.a: expected '],
    [{ workspace: { files: { a: new Float64Array(1) } } }, 'argument_invalid', 'workspace.files.a'],
    [{ workspace: { files: { '../a': new Uint8Array(1) } } }, 'argument_invalid', 'workspace.files["../a"]'],
    [
      { workspace: { files: { a: { content: bytes, mode: 0o7777 } } } },
      'argument_invalid',
      'workspace.files.a.mode',
    ],
    [{ workspace: { files: new Map() } }, 'argument_invalid', 'workspace.files: expected '],
    [{ policy: { deny: [() => true] } }, /argument_invalid|unsupported/, /policy\.deny/i],
    [{ idleMs: 5 }, 'argument_invalid', 'unknown key "idleMs"'],
  ])('is refused with the same error everywhere: %o', async (options, code, message) => {
    const error = await refusal(clientOf(daemon).create(untyped(options)))
    expect(error.code).toMatch(code)
    expect(error.message).toMatch(message)
    expect(await daemon.host.list()).toEqual([])
    expect(leftIn(daemon)).toEqual([])
  })

  it('is not created when the signal is aborted already, and leaves no event', async () => {
    const creating = clientOf(daemon).create({ id: 'never', local, signal: AbortSignal.abort() })
    await expect(creating).rejects.toMatchObject({ code: 'cancelled' })
    expect(await daemon.host.list()).toEqual([])
    expect(leftIn(daemon)).toEqual([])
    expect(await daemon.host.store.journals()).not.toContain('never')
  })

  it('is cancelled while its machine starts, and leaves no record and no folder', async () => {
    const cancellation = new AbortController()
    const started = daemon.host.store.tail({ types: ['operation.started'], after: 'now' })
    const first = started.next()
    const creating = clientOf(daemon).create({ id: 'cut', local, signal: cancellation.signal })
    creating.catch(() => undefined)
    await first
    cancellation.abort()
    await expect(creating).rejects.toMatchObject({ code: 'cancelled' })
    await started.return?.()
    expect(await daemon.host.list()).toEqual([])
    expect(leftIn(daemon)).toEqual([])
  })

  it('is cancelled while it is prepared, and leaves no record, no process and no folder', async () => {
    const cancellation = new AbortController()
    const mark = `987${Math.floor(Math.random() * 1e6)}`
    const creating = clientOf(daemon).create({
      id: 'cut-late',
      local,
      workspace: { files: { a: bytes }, setup: [`sleep ${mark}`] },
      signal: cancellation.signal,
    })
    creating.catch(() => undefined)
    await expect.poll(() => countProcesses(mark), { timeout: 20_000 }).toBeGreaterThan(0)
    cancellation.abort()
    await expect(creating).rejects.toMatchObject({ code: 'cancelled' })
    expect(countProcesses(mark)).toBe(0)
    expect(await daemon.host.list()).toEqual([])
    expect(leftIn(daemon)).toEqual([])
  })
})

it('a function is refused by a client over HTTP, and taken by a host', async () => {
  const { host, client } = await openDaemon()
  const options = { local, policy: { ask: ['touch *'] }, onAsk: () => 'deny' }
  await expect(client.create(untyped(options))).rejects.toMatchObject({
    code: 'unsupported',
    message: expect.stringContaining('onAsk: expected a value that can be sent over HTTP, got a function'),
  })
  expect(await client.list()).toEqual([])
  await host.create(untyped(options))
})

/** The folders and records of sandboxes in the data directory. */
function leftIn({ host }: InProcessDaemon): string[] {
  return ['sandboxes', 'records'].flatMap((name) => {
    const folder = join(host.data, name)
    return existsSync(folder) ? readdirSync(folder) : []
  })
}
