import { describe, expect, it } from 'vitest'
import { background } from '../../waiting/background.ts'
import { eventually, withTimeLimit } from '../../waiting/within.ts'
import { largeBytes, readCut } from '../cut-streams.ts'
import { allEvents, operationsOf, typesOf } from '../events.ts'
import { type MakeSandbox, newSandbox, type SandboxKitOptions } from '../kit.ts'
import { readText, someBytes } from './content.ts'

const once = ['operation.started', 'operation.finished']

export function fileOperationCases(make: MakeSandbox, kit: SandboxKitOptions): void {
  describe('file operations', () => {
    it('every file call starts and finishes one operation, on success and on failure', async () => {
      const { sandbox, journal } = await newSandbox(make)
      const { files } = sandbox
      await files.mkdir('d')
      await files.write('d/a', 'x')
      await readText(sandbox, 'd/a')
      await files.list('d')
      await files.stat('d')
      await files.exists('d')
      await files.chmod('d/a', 0o600)
      await files.move('d/a', 'd/b')
      await files.search('.', { name: 'b' })
      await files.flush()
      await files.remove('d', { recursive: true })
      const refused = [
        () => files.mkdir('/etc/x'),
        () => files.write('/etc/x', 'x'),
        () => files.read('missing'),
        () => files.list(''),
        () => files.stat('a\0'),
        () => files.exists('..'),
        () => files.chmod('missing', 1),
        () => files.move('missing', 'x'),
        () => files.search('.', {}),
        () => files.remove('missing'),
      ]
      for (const call of refused) await expect(call()).rejects.toMatchObject({ code: expect.any(String) })
      const events = await allEvents(journal)
      for (const op of ['mkdir', 'write', 'read', 'ls', 'stat', 'exists', 'chmod', 'mv', 'search', 'rm']) {
        const operations = operationsOf(events, op).map((one) =>
          one.filter(({ type }) => type.startsWith('operation.')),
        )
        expect(operations.map(typesOf), op).toEqual([once, once])
        const ends = operations.map((one) => one[1]!.data)
        expect(ends, op).toMatchObject([
          { outcome: 'ok' },
          { outcome: 'failed', errorCode: expect.any(String) },
        ])
      }
      expect(operationsOf(events, 'flush')).toHaveLength(1)
    })

    it('every file call with an aborted signal is rejected as cancelled', async () => {
      const { sandbox, journal } = await newSandbox(make)
      const { files } = sandbox
      const options = { signal: AbortSignal.abort() }
      for (const call of [
        () => files.read('.', options),
        () => files.write('x', 'x', options),
        () => files.list('.', options),
        () => files.stat('.', options),
        () => files.remove('x', options),
        () => files.search('.', { name: 'x', ...options }),
      ])
        await expect(call()).rejects.toMatchObject({ code: 'cancelled' })
      const ends = (await allEvents(journal)).filter(
        ({ type, data }) =>
          type === 'operation.finished' &&
          ['read', 'write', 'ls', 'stat', 'rm', 'search'].includes(`${data.op}`),
      )
      expect(ends.map(({ data }) => data.outcome)).toEqual(Array(6).fill('cancelled'))
    })

    it('a read operation lasts as long as its stream: read to the end, cancelled, aborted, or cut by a shutdown', async () => {
      const { sandbox, journal } = await newSandbox(make)
      const { files } = sandbox
      await files.write('large', someBytes(largeBytes(kit, 2_000_000)))
      const caller = new AbortController()
      await new Response(await files.read('large')).arrayBuffer()
      await (await files.read('large')).cancel()
      const partly = (await files.read('large')).getReader()
      await partly.read()
      await partly.cancel()
      const cancelled = (await files.read('large', { signal: caller.signal })).getReader()
      await cancelled.read()
      caller.abort()
      const cut = (await files.read('large')).getReader()
      await cut.read()
      await files.read('large')
      await sandbox.lifecycle.shutdown()
      await expect(readCut(cut, kit)).rejects.toMatchObject({ code: expect.any(String) })
      const reads = async () =>
        operationsOf(await allEvents(journal), 'read').map((one) =>
          one.filter(({ type }) => type.startsWith('operation.')),
        )
      await eventually('all ends', async () => (await reads()).every((one) => one.length === 2))
      expect((await reads()).map(typesOf)).toEqual(Array(6).fill(once))
      expect((await reads()).map((one) => one[1]!.data.outcome)).toEqual([
        'ok',
        ...Array(5).fill('cancelled'),
      ])
    })

    it('a write whose source is still open ends at the shutdown, and reaches no other sandbox later', async () => {
      const { sandbox, journal } = await newSandbox(make)
      const sources: ReadableStreamDefaultController<Uint8Array>[] = []
      const writing = [true, false].flatMap((append) =>
        Array.from({ length: 4 }, () =>
          background(
            sandbox.files.write(
              'shared',
              new ReadableStream<Uint8Array>({
                start(controller) {
                  sources.push(controller)
                },
              }),
              { append },
            ),
          ),
        ),
      )
      for (const source of sources) source.enqueue(Buffer.from('late'))
      await eventually('the starts', async () => operationsOf(await allEvents(journal), 'write').length === 8)
      await sandbox.lifecycle.shutdown()
      const others = await Promise.all([newSandbox(make), newSandbox(make), newSandbox(make)])
      for (const other of others) await other.sandbox.exec('printf own > shared')
      for (const source of sources) {
        try {
          source.close()
        } catch {
          // The stream was cancelled, as expected.
        }
      }
      const ends = await withTimeLimit('their ends', Promise.allSettled(writing))
      expect(ends.map(({ status }) => status)).toEqual(Array(8).fill('rejected'))
      for (const end of ends)
        expect(end).toMatchObject({ reason: { code: 'cancelled', hint: expect.any(String) } })
      for (const other of others) expect(await readText(other.sandbox, 'shared')).toBe('own')
      const writes = operationsOf(await allEvents(journal), 'write')
      expect(writes.map(typesOf)).toEqual(Array(8).fill(once))
    })

    it('a file call is refused while the sandbox does not run', async () => {
      const { sandbox } = await newSandbox(make)
      await sandbox.lifecycle.shutdown()
      await expect(sandbox.files.read('x')).rejects.toMatchObject({ code: 'sandbox_not_running' })
      await sandbox.lifecycle.start()
      await sandbox.files.write('x', 'again')
      expect(await readText(sandbox, 'x')).toBe('again')
    })
  })
}
