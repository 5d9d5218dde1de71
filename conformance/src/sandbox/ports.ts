import { createServer } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, it, onTestFinished } from 'vitest'
import { attempt } from '../waiting/attempt.ts'
import { background } from '../waiting/background.ts'
import { eventually } from '../waiting/within.ts'
import { request, server } from './commands.ts'
import { allEvents, operationsOf } from './events.ts'
import { freePort } from './free-port.ts'
import { type MakeSandbox, newSandbox, sharedSandbox } from './kit.ts'

export function portCases(make: MakeSandbox): void {
  describe('ports', () => {
    const shared = sharedSandbox(make)

    it('a listening port is listed with its process until the process ends', async () => {
      const { sandbox } = await shared()
      const port = await freePort()
      expect((await sandbox.ports.list()).map((one) => one.port)).not.toContain(port)
      const process = await sandbox.spawn(`(${server(port, 'mine')}); :`)
      await sandbox.ports.waitFor(port)
      expect(await sandbox.ports.list()).toContainEqual({ port, address: '127.0.0.1', process: process.id })
      await process.kill()
      await eventually('the port to be free', async () =>
        (await sandbox.ports.list()).every((one) => one.port !== port),
      )
    })

    it('a resolved port leads to the server in the sandbox', async () => {
      const { sandbox } = await shared()
      const port = await freePort()
      await sandbox.spawn(server(port, 'hello from inside'))
      const waited = await sandbox.ports.waitFor(port)
      const resolved = await sandbox.ports.resolve(port)
      expect(resolved).toEqual(waited)
      expect(resolved.url).toBe(`http://${resolved.host}:${resolved.port}`)
      for (const _round of [1, 2, 3])
        expect(await (await fetch(resolved.url)).text()).toBe('hello from inside')
      const many = await Promise.all(
        Array.from({ length: 30 }, async () => (await fetch(resolved.url)).text()),
      )
      expect(new Set(many)).toEqual(new Set(['hello from inside']))
    })

    it('a preview leads to the server in the sandbox', async () => {
      const { sandbox } = await shared()
      const port = await freePort()
      await sandbox.spawn(server(port, 'hello from afar'))
      await sandbox.ports.waitFor(port)
      const { url } = await sandbox.ports.preview(port)
      expect(await (await fetch(url)).text()).toBe('hello from afar')
    })

    it('a resolved port leads to a server that listens only on IPv6', async ({ skip }) => {
      const { sandbox } = await shared()
      if (!(await sandbox.exec('cat /proc/net/if_inet6')).stdout.includes('00000000000000000000000000000001'))
        skip()
      const port = await freePort()
      await sandbox.spawn(server(port, 'hello from six', '::1'))
      const { url } = await sandbox.ports.waitFor(port)
      expect(await (await fetch(url)).text()).toBe('hello from six')
    })

    it('a listed port of the host on which nothing listens: the failed connection is on record', async ({
      skip,
    }) => {
      const port = await freePort()
      const { sandbox, journal } = await newSandbox(make, { egress: [`localhost:${port}`] })
      if (!sandbox.capabilities.network.includes('egress')) skip()
      const { exitCode } = await sandbox.exec(`curl -s -m 10 --noproxy '*' http://127.0.0.1:${port}/`)
      expect(exitCode).not.toBe(0)
      const [failed, ...others] = await allEvents(journal, { types: ['network.failed'] })
      expect(others).toEqual([])
      expect(failed?.data).toMatchObject({ host: 'localhost', port, error: 'ECONNREFUSED' })
      const allowed = await allEvents(journal, { types: ['network.allowed'] })
      expect(allowed[0]?.data).toMatchObject({ phase: 'opened', connection: failed?.data.connection })
    })

    it('the port of a background process of an earlier command is listed', async () => {
      const { sandbox } = await shared()
      // Several rounds: a process that forks right after its start is easily missed.
      for (const _round of [1, 2, 3]) {
        const port = await freePort()
        await sandbox.exec(`(${server(port, 'left')}) > /dev/null 2>&1 &`)
        await sandbox.exec(request(port))
        expect((await sandbox.ports.list()).map((one) => one.port)).toContain(port)
      }
    })

    it('waitFor resolves when a server starts to listen', async () => {
      const { sandbox } = await shared()
      const port = await freePort()
      const waiting = background(sandbox.ports.waitFor(port, { timeoutMs: 20_000 }))
      await sandbox.spawn(`while [ ! -e go ]; do sleep 0.02; done; ${server(port, 'opened later')}`)
      await sandbox.exec('touch go')
      expect(await (await fetch((await waiting).url)).text()).toBe('opened later')
    })

    it('waitFor ends at its time limit or with its signal', async () => {
      const { sandbox, journal } = await newSandbox(make)
      const port = await freePort()
      await expect(sandbox.ports.waitFor(port, { timeoutMs: 200 })).rejects.toMatchObject({
        code: 'timeout',
        message: `Nothing listened on port ${port} of the sandbox within 200 ms.`,
      })
      const caller = new AbortController()
      const waiting = background(sandbox.ports.waitFor(port, { signal: caller.signal }))
      await sleep(50)
      caller.abort()
      await expect(waiting).rejects.toThrow()
      await expect(sandbox.ports.waitFor(port, { signal: AbortSignal.abort() })).rejects.toThrow()
      const waits = operationsOf(await allEvents(journal), 'port_wait')
      expect(waits.map((events) => events.at(-1)?.data.outcome)).toEqual([
        'timeout',
        'cancelled',
        'cancelled',
      ])
    })

    it('a port without a listener is refused with a retryable code', async () => {
      const { sandbox } = await shared()
      const port = await freePort()
      for (const ask of ['resolve', 'preview'] as const)
        await expect(sandbox.ports[ask](port)).rejects.toMatchObject({
          code: 'port_unavailable',
          message: expect.stringContaining(`Nothing listens on port ${port} of the sandbox`),
          hint: expect.stringContaining('wait for it with `ports.waitFor`'),
          retryable: true,
        })
    })

    it('an invalid port number is refused', async () => {
      const { sandbox } = await shared()
      for (const port of [0, -1, 65_536, 1.5, Number.NaN]) {
        await expect(attempt(() => sandbox.ports.resolve(port))).rejects.toMatchObject({
          code: 'argument_invalid',
        })
        await expect(attempt(() => sandbox.ports.waitFor(port))).rejects.toMatchObject({
          code: 'argument_invalid',
        })
      }
    })

    it("ports of the host's servers are not listed", async () => {
      const { sandbox } = await shared()
      const port = await freePort()
      const outside = createServer((_, answer) => answer.end('host'))
      await new Promise<void>((resolve) => outside.listen(port, '127.0.0.1', resolve))
      onTestFinished(() => void outside.close())
      expect((await sandbox.ports.list()).map((one) => one.port)).not.toContain(port)
      await expect(sandbox.ports.resolve(port)).rejects.toMatchObject({ code: 'port_unavailable' })
    })

    it('a shutdown closes all ports', async () => {
      const { sandbox } = await newSandbox(make)
      const port = await freePort()
      await sandbox.spawn(server(port, 'x'))
      const { url } = await sandbox.ports.waitFor(port)
      await sandbox.lifecycle.shutdown()
      await eventually(
        'no response',
        () =>
          fetch(url).then(
            () => false,
            () => true,
          ),
        3_000,
      )
      await expect(sandbox.ports.list()).rejects.toMatchObject({ code: 'sandbox_not_running' })
    })
  })
}
