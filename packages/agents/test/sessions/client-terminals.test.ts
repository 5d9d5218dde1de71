import { mkdtempSync } from 'node:fs'
import type { Process, ProcessExit, SandboxCore } from '@vitrine/protocol'
import { commandPolicy, createLocalSandbox, local } from '@vitrine/sandbox'
import { expect, it } from 'vitest'
import { ClientTerminals } from '../../src/sessions/client-terminals.ts'

const exit: ProcessExit = { outcome: 'ok', exitCode: 0, signal: null }
const asked = { sessionId: 's', command: 'talk', args: ['much'] }

/** A sandbox whose processes write the given number of MiB. */
function talking(mebibytes: number, started: Promise<void> = Promise.resolve()) {
  let count = 0
  const sandbox = {
    async spawn(): Promise<Process> {
      await started
      count += 1
      const process = {
        id: `proc_${count}`,
        exit: Promise.resolve(exit),
        async *view() {
          for (let n = 0; n < mebibytes; n += 1) yield { data: Buffer.alloc(1024 * 1024, 'x') }
        },
        kill: async () => exit,
      }
      // Only the members that terminals use.
      return process as unknown as Process
    },
  }
  return sandbox as unknown as SandboxCore
}

it('limits the stored output, whatever the agent requests', async () => {
  const terminals = new ClientTerminals()
  const id = await terminals.create(talking(10), 'agent', { ...asked, outputByteLimit: 1e12 })
  await terminals.waitForExit(id)
  const { output, truncated } = terminals.output(id)
  expect([output.length, truncated]).toEqual([4 * 1024 * 1024, true])
})

it('counts terminals that are being started', async () => {
  const terminals = new ClientTerminals()
  const started = Promise.withResolvers<void>()
  const sandbox = talking(0, started.promise)
  const all = Array.from({ length: 64 }, () => terminals.create(sandbox, 'agent', asked))
  await expect(terminals.create(sandbox, 'agent', asked)).rejects.toMatchObject({ code: 'process_limit' })
  started.resolve()
  expect(await Promise.all(all)).toHaveLength(64)
})

it('kills terminals created after a count, also those still being started', async () => {
  const terminals = new ClientTerminals()
  const before = await terminals.create(talking(0), 'agent', asked)
  const { createdCount } = terminals
  const started = Promise.withResolvers<void>()
  const late = terminals.create(talking(0, started.promise), 'agent', asked)
  await terminals.killSince(createdCount)
  started.resolve()
  await expect(late).rejects.toMatchObject({ code: 'cancelled' })
  expect(terminals.output(before)).toMatchObject({ truncated: false })
})

it('the variables of a terminal are judged by the policy of the sandbox', async () => {
  await using sandbox = await createLocalSandbox({
    provider: local({ data: mkdtempSync('/var/tmp/vitrine-test-'), isolation: 'none' }),
    policy: commandPolicy({ allow: ['git *'], otherwise: 'allow' }),
  })
  const terminals = new ClientTerminals()
  const create = (name: string, value: string) =>
    terminals.create(sandbox, 'agent', {
      sessionId: 's',
      command: 'git',
      args: ['--version'],
      env: [{ name, value }],
    })
  for (const [name, value] of [
    ['PATH', `${sandbox.root}/bin:/usr/bin:/bin`],
    ['LD_PRELOAD', './x.so'],
    ['GIT_EXEC_PATH', 'bin'],
  ] as const)
    await expect(create(name, value)).rejects.toMatchObject({
      code: 'gate_refused',
      message: expect.stringContaining(name),
    })
  const id = await create('GIT_PAGER', 'cat')
  expect(await terminals.waitForExit(id)).toMatchObject({ exitCode: 0 })
})
