import { beforeAll, describe, expect, it } from 'vitest'
import { openDaemon } from '../../packages/server/test/daemon.ts'
import { compileProgram, generateClient, installGenerator, runProgram } from './generator.ts'

beforeAll(async () => {
  await installGenerator()
  await generateClient()
}, 300_000)

describe('A client that a published generator creates from the OpenAPI document', () => {
  it('has types with which a strict program compiles and wrong calls do not', {
    timeout: 300_000,
  }, async () => {
    expect(await compileProgram()).toBe('')
  })

  it('calls the routes of a daemon and reads their responses', { timeout: 120_000 }, async () => {
    await using daemon = await openDaemon()
    expect(await runProgram(daemon.url, daemon.token)).toEqual({
      health: 'ok',
      labels: { made: 'by a generator' },
      isolation: 'none',
      exec: { exitCode: 3, stdout: 'hello\n', outcome: 'failed' },
      written: { path: 'notes/one.txt', size: 9 },
      content: 'some text',
      listed: ['file notes/one.txt'],
      ended: { state: 'exited', exitCode: 0 },
      logs: 'from a process\n',
      session: { agent: 'demo', state: 'open', waiting: 0 },
      outcome: 'ok',
      execs: 1,
      turns: ['ok'],
      isLast: true,
      missing: { status: 404, code: 'not_found', hint: expect.stringMatching(/\w/) },
      removed: 204,
    })
  })
})
