import { PassThrough } from 'node:stream'
import type { ProcessExit } from '@vitrine/protocol'
import type { PipedProcess } from '@vitrine/sandbox'
import { expect, it } from 'vitest'
import { processTransport } from '../../src/bridge/process-transport.ts'
import { StderrLines } from '../../src/bridge/stderr-lines.ts'

const exit: ProcessExit = { outcome: 'ok', exitCode: 0, signal: null }

/** A process that the test controls. */
function fake() {
  const observed = Promise.withResolvers<ProcessExit>()
  const calls: string[] = []
  const process = {
    id: 'proc_1',
    pid: 1,
    stdin: new PassThrough(),
    stdout: new PassThrough({ highWaterMark: 1024 * 1024 }),
    exit: observed.promise,
    observed: observed.promise,
    async stop() {
      calls.push('stop')
      observed.resolve(exit)
      return exit
    },
    async kill() {
      return exit
    },
    async endTree() {
      calls.push('endTree')
    },
    killStartedAfter: () => 0,
  } satisfies PipedProcess
  return { process, calls, observed }
}

it('passes on everything that was written before the exit', async () => {
  const { process, observed } = fake()
  const transport = processTransport(process, new StderrLines())
  const heard: Buffer[] = []
  transport.start((bytes) => heard.push(bytes))
  process.stdout.write('one')
  observed.resolve(exit)
  process.stdout.end('two')
  expect(await transport.closed).toMatchObject({ exitCode: 0, stderr: { lines: 0 } })
  expect(Buffer.concat(heard).toString()).toBe('onetwo')
})

it('does not lose the last output of an agent while its pipe is paused', async () => {
  const { process, observed } = fake()
  const transport = processTransport(process, new StderrLines())
  const heard: Buffer[] = []
  transport.start((bytes) => heard.push(bytes))
  transport.pause()
  process.stdout.end('the last words')
  observed.resolve(exit)
  let over = false
  void transport.closed.then(() => {
    over = true
  })
  // Longer than the transport waits for a silent pipe.
  await new Promise((resolve) => setTimeout(resolve, 250))
  expect(over).toBe(false)
  transport.resume()
  await transport.closed
  expect(Buffer.concat(heard).toString()).toBe('the last words')
})

it('does not wait for another process that holds the pipe open', async () => {
  const { process, observed, calls } = fake()
  const transport = processTransport(process, new StderrLines())
  transport.start(() => undefined)
  observed.resolve(exit)
  await transport.closed
  expect(calls).toEqual(['endTree'])
  expect(process.stdout.destroyed).toBe(true)
})

it('closes stdin first, and kills the agent after the grace period', async () => {
  const { process, calls } = fake()
  const transport = processTransport(process, new StderrLines())
  transport.start(() => undefined)
  await transport.end(1)
  expect(process.stdin.writableEnded).toBe(true)
  expect(calls).toEqual(['stop', 'endTree'])
})
