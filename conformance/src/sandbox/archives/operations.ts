import { describe, expect, it } from 'vitest'
import { background } from '../../waiting/background.ts'
import { eventually } from '../../waiting/within.ts'
import { largeBytes, readCut } from '../cut-streams.ts'
import { allEvents, operationsOf, typesOf } from '../events.ts'
import { someBytes } from '../files/content.ts'
import { type MakeSandbox, newSandbox, type SandboxKitOptions, type TestedSandbox } from '../kit.ts'
import { tarOf } from './tar-bytes.ts'
import { bytesOf } from './unpack-calls.ts'

const once = ['operation.started', 'operation.finished']
const tar = tarOf(
  { name: 'f', content: 'four' },
  { name: 'd/', type: '5' },
  { name: 'l', type: '2', target: 'f' },
)

/** The two calls that return an archive as a stream. */
const packCalls: readonly {
  readonly op: string
  open(sandbox: TestedSandbox, options?: { signal?: AbortSignal }): Promise<ReadableStream<Uint8Array>>
}[] = [
  { op: 'download', open: (sandbox, options) => sandbox.files.download('.', options) },
  { op: 'persist_workspace', open: (sandbox, options) => sandbox.persist(options) },
]

export function archiveOperationCases(make: MakeSandbox, options: SandboxKitOptions): void {
  describe('archive operations', () => {
    it('an archive call starts and finishes one operation, with its counts or its error code', async () => {
      const { sandbox, journal } = await newSandbox(make)
      await sandbox.files.upload('up', tar)
      await sandbox.files.extract('a.tar', tar)
      await sandbox.hydrate(tar)
      for (const call of [
        background(sandbox.files.upload('up', tarOf({ name: '../x' }))),
        background(sandbox.files.extract('a.tar', tarOf({ name: '../x' }))),
        background(sandbox.hydrate(tarOf({ name: '../x' }))),
      ])
        await expect(call).rejects.toMatchObject({ code: 'archive_refused' })
      const events = await allEvents(journal)
      for (const op of ['upload', 'extract', 'hydrate_workspace']) {
        const operations = operationsOf(events, op)
        expect(operations.map(typesOf), op).toEqual([once, once])
        expect(
          operations.map((one) => one[1]!.data),
          op,
        ).toMatchObject([
          { outcome: 'ok', files: 1, directories: 1, links: 1, bytes: 4 },
          { outcome: 'failed', errorCode: 'archive_refused' },
        ])
      }
    })

    it.each(packCalls)('the operation $op lasts as long as its stream', async ({ op, open }) => {
      const { sandbox, journal } = await newSandbox(make)
      await sandbox.files.write('large', someBytes(largeBytes(options, 3_000_000)))
      const caller = new AbortController()
      const { length } = await bytesOf(await open(sandbox))
      await (await open(sandbox)).cancel()
      const partly = (await open(sandbox)).getReader()
      const read = (await partly.read()).value?.byteLength
      await partly.cancel()
      const cancelled = (await open(sandbox, { signal: caller.signal })).getReader()
      await cancelled.read()
      caller.abort()
      await expect(cancelled.read()).rejects.toMatchObject({ code: 'cancelled' })
      const cut = (await open(sandbox)).getReader()
      await cut.read()
      // This stream is neither read nor cancelled.
      await open(sandbox)
      await sandbox.lifecycle.shutdown()
      // A response that has started can only break off: it cannot carry an error code any more.
      const code = options.remote ? 'connection_failed' : 'cancelled'
      await expect(readCut(cut, options)).rejects.toMatchObject({ code })
      const operations = async () => operationsOf(await allEvents(journal), op)
      await eventually('all ends', async () => (await operations()).every((one) => one.length === 2))
      expect((await operations()).map(typesOf)).toEqual(Array(6).fill(once))
      expect((await operations()).map((one) => one[1]!.data)).toMatchObject([
        { outcome: 'ok', bytes: length },
        // The server sees only that the connection was dropped, not how many of the sent bytes the client read.
        { outcome: 'cancelled', ...(!options.remote && { bytes: 0 }) },
        { outcome: 'cancelled', ...(!options.remote && { bytes: read }) },
        ...Array(3).fill({ outcome: 'cancelled' }),
      ])
    })

    it.each(packCalls)(
      'the operation $op ends once when a file shrinks meanwhile, and its archive is complete or fails',
      async ({ op, open }) => {
        const { sandbox, journal } = await newSandbox(make)
        await sandbox.files.write('large', someBytes(6_000_000))
        await sandbox.files.write('zz', 'last')
        const reader = (await open(sandbox)).getReader()
        const parts: Uint8Array[] = []
        const readOn = async () => {
          for (let part = await reader.read(); !part.done; part = await reader.read()) parts.push(part.value)
        }
        parts.push((await reader.read()).value!)
        await sandbox.exec('truncate -s 100 large; rm zz')
        const error = await readOn().catch((reason: unknown) => reason)
        if (error === undefined)
          expect(await sandbox.files.upload('back', Buffer.concat(parts))).toMatchObject({
            files: expect.any(Number),
          })
        else expect(error).toMatchObject({ code: expect.any(String) })
        const operations = operationsOf(await allEvents(journal), op)
        expect(operations.map(typesOf)).toEqual([once])
        expect(operations[0]?.[1]?.data.outcome).toBe(error === undefined ? 'ok' : 'failed')
      },
    )

    it.each(packCalls)(
      'the operation $op ends once when it is cancelled or refused before its stream',
      async ({ op, open }) => {
        const { sandbox, journal } = await newSandbox(make)
        await expect(open(sandbox, { signal: AbortSignal.abort() })).rejects.toMatchObject({
          code: 'cancelled',
        })
        await sandbox.lifecycle.shutdown()
        await expect(open(sandbox)).rejects.toMatchObject({ code: 'sandbox_not_running' })
        const operations = operationsOf(await allEvents(journal), op)
        expect(operations.map(typesOf)).toEqual([once, once])
        expect(operations.map((one) => one[1]!.data.outcome)).toEqual(['cancelled', 'failed'])
      },
    )

    it('an archive operation carries the context of its call', async () => {
      const { sandbox, journal } = await newSandbox(make)
      const mine = sandbox.as({ run: 'run_archives' })
      await mine.files.upload('up', tar)
      await mine.files.extract('a.tar', tar)
      await bytesOf(await mine.files.download('up'))
      await mine.hydrate(await bytesOf(await mine.persist()))
      const events = await allEvents(journal, { run: 'run_archives', types: ['operation.*'] })
      expect(events.filter(({ type }) => type === 'operation.finished').map(({ data }) => data.op)).toEqual([
        'upload',
        'extract',
        'download',
        'persist_workspace',
        'hydrate_workspace',
      ])
    })
  })
}
