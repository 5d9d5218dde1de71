import type { Journal } from '@vitrine/journal'
import { openStore } from '@vitrine/journal'
import { type JournalEvent, type OpenWork, workKinds } from '@vitrine/protocol'
import { describe, expect, it } from 'vitest'
import { crashingDriver } from '../drivers/crashing-driver.ts'
import { eventsOf, numbers, seqsOf } from '../events/coverage.ts'
import { messages, work, workNames } from '../events/inputs.ts'
import { type MakeStore, newStoreFixture } from './fixture.ts'

export function recoveryCases(makeStore: MakeStore): void {
  describe('recovery', () => {
    it('closes every kind of work that a crashed host left open once as interrupted', async () => {
      const fixture = await newStoreFixture(makeStore)
      const store = await fixture.open()
      const journal = await store.journal('a')
      await journal.append(workNames.flatMap((kind) => [work[kind]('open').start, work[kind]('done').start]))
      await journal.append(workNames.map((kind) => work[kind]('done').end))
      const before = (await journal.read()).events.length
      await fixture.crash(store)

      const again = await (await fixture.open()).journal('a')
      const added = (await eventsIn(again)).slice(before)
      const ends = added.filter(({ type }) => type !== 'journal.recovered')
      expect(ends.map(({ type }) => type).toSorted()).toEqual(
        workNames.map((kind) => workKinds[kind].ends).toSorted(),
      )
      for (const end of ends) {
        expect(end).toMatchObject({
          derived: true,
          data: { outcome: 'interrupted', errorCode: 'interrupted' },
        })
        expect(end.data).not.toHaveProperty('exitCode')
      }
      const recovered = added.filter(({ type }) => type === 'journal.recovered')
      expect(recovered).toHaveLength(1)
      expect(closedBy(recovered[0])).toEqual(workNames.map((kind) => `${kind} open`).toSorted())
      for (const kind of workNames) {
        await expect(again.append([work[kind]('open').end])).rejects.toMatchObject({ code: 'work_not_open' })
      }
    })

    it('appends no event when there is nothing to close, and none on the next open', async () => {
      const fixture = await newStoreFixture(makeStore)
      const first = await fixture.open()
      await (await first.journal('a')).append([...messages(1), work.operation('op_1').start])
      await fixture.crash(first)
      const second = await fixture.open()
      const afterFirst = await eventsIn(await second.journal('a'))
      await fixture.crash(second)
      const third = await fixture.open()
      expect(await eventsIn(await third.journal('a'))).toEqual(afterFirst)
      const fourth = await fixture.reopen(third)
      expect(await eventsIn(await fourth.journal('a'))).toEqual(afterFirst)
    })

    it('closes open work in every journal, each with its own journal.recovered', async () => {
      const fixture = await newStoreFixture(makeStore)
      const store = await fixture.open()
      for (const id of ['a', 'b', 'c'])
        await (await store.journal(id)).append([work.process(`p_${id}`).start])
      await (await store.journal('d')).append(messages(1))
      await fixture.crash(store)
      const again = await fixture.open()
      for (const id of ['a', 'b', 'c']) {
        expect((await eventsIn(await again.journal(id))).map(({ type }) => type)).toEqual([
          'process.started',
          'process.exited',
          'journal.recovered',
        ])
      }
      expect(await eventsIn(await again.journal('d'))).toHaveLength(1)
    })

    it('ends nested work before the work around it', async () => {
      const fixture = await newStoreFixture(makeStore)
      const store = await fixture.open()
      await (await store.journal('a')).append([
        work.run('run_1').start,
        work.turn('turn_1').start,
        work.operation('op_outer').start,
        work.operation('op_inner').start,
      ])
      await fixture.crash(store)
      const added = (await eventsIn(await (await fixture.open()).journal('a'))).slice(4)
      expect(added.map(({ type, operation }) => operation ?? type)).toEqual([
        'op_inner',
        'op_outer',
        'turn.finished',
        'run.finished',
        'journal.recovered',
      ])
    })

    it('repeats the context of the start in the end', async () => {
      const fixture = await newStoreFixture(makeStore)
      const store = await fixture.open()
      const context = { actor: 'ada', sandbox: 'sbx_1', session: 'ses_1', run: 'run_1', turn: 'turn_1' }
      const trace = { traceId: '1'.repeat(32), spanId: '2'.repeat(16) }
      await (await store.journal('a')).append([
        {
          type: 'operation.started',
          operation: 'op_1',
          ...context,
          trace,
          data: { op: 'exec', parent: 'op_0', argv: ['x'] },
        },
      ])
      await fixture.crash(store)
      const [, end] = await eventsIn(await (await fixture.open()).journal('a'))
      expect(end).toMatchObject({
        type: 'operation.finished',
        operation: 'op_1',
        ...context,
        trace,
        data: { op: 'exec', parent: 'op_0', ok: false, outcome: 'interrupted' },
      })
    })

    it('closes work that a host left open when it closed its store normally', async () => {
      const fixture = await newStoreFixture(makeStore)
      const store = await fixture.open()
      await (await store.journal('a')).append([work.turn('turn_1').start])
      const again = await (await fixture.reopen(store)).journal('a')
      expect((await eventsIn(again)).map(({ type }) => type)).toEqual([
        'turn.started',
        'turn.finished',
        'journal.recovered',
      ])
    })

    it('closes open work for a host that takes the store over', async () => {
      const fixture = await newStoreFixture(makeStore)
      const store = await fixture.open()
      await (await store.journal('a')).append([work.process('p_1').start])
      const taken = await (await fixture.open({ takeover: true })).journal('a')
      expect((await eventsIn(taken)).map(({ type }) => type)).toEqual([
        'process.started',
        'process.exited',
        'journal.recovered',
      ])
    })

    it('calls killOrphans before it closes open work', async () => {
      const fixture = await newStoreFixture(makeStore)
      const first = await fixture.open()
      await (await first.journal('a')).append([work.process('p_1').start])
      await fixture.crash(first)
      const swept: OpenWork[][] = []
      const killOrphans = async (open: readonly OpenWork[]) => {
        const watching = await fixture.readOnly()
        expect(await eventsIn(await watching.journal('a'))).toHaveLength(1)
        swept.push([...open])
      }
      const second = await fixture.open({ killOrphans })
      expect(swept).toMatchObject([[{ journal: 'a', kind: 'process', id: 'p_1', startedAt: 1 }]])
      await fixture.reopen(second, { killOrphans })
      expect(swept).toHaveLength(1)
    })

    it('leaves everything open for the next host when killOrphans fails', async () => {
      const fixture = await newStoreFixture(makeStore)
      const first = await fixture.open()
      await (await first.journal('a')).append([work.process('p_1').start])
      await fixture.crash(first)
      const killOrphans = () => Promise.reject(new Error('survivors'))
      await expect(fixture.open({ killOrphans })).rejects.toThrow('survivors')
      expect(await eventsIn(await (await fixture.readOnly()).journal('a'))).toHaveLength(1)
      expect(await eventsIn(await (await fixture.open()).journal('a'))).toHaveLength(3)
    })

    it.each(['before the next commit', 'after the next commit'] as const)(
      'closes everything once even if the recovering host crashes %s',
      async (when) => {
        const fixture = await newStoreFixture(makeStore)
        const first = await fixture.open()
        for (const id of ['a', 'b', 'c'])
          await (await first.journal(id)).append([work.turn(`turn_${id}`).start])
        await fixture.crash(first)
        for (let crash = 0; crash < 3; crash += 1) {
          const host = crashingDriver(fixture.driver())
          await host.kill(when)
          await expect(openStore(host)).rejects.toMatchObject({ code: 'store_unavailable' })
        }
        const last = await fixture.open()
        for (const id of ['a', 'b', 'c']) {
          expect((await eventsIn(await last.journal(id))).map(({ type }) => type)).toEqual([
            'turn.started',
            'turn.finished',
            'journal.recovered',
          ])
        }
      },
    )

    it('closes nothing for a reader', async () => {
      const fixture = await newStoreFixture(makeStore)
      const store = await fixture.open()
      await (await store.journal('a')).append([work.process('p_1').start])
      await fixture.crash(store)
      expect(await eventsIn(await (await fixture.readOnly()).journal('a'))).toHaveLength(1)
    })

    it('closes thousands of open items', async () => {
      const fixture = await newStoreFixture(makeStore)
      const store = await fixture.open()
      await (await store.journal('a')).append(
        numbers(1, 3_000).map((number) => work.process(`p_${number}`).start),
      )
      await fixture.crash(store)
      const again = await (await fixture.open()).journal('a')
      const { events } = await again.read({ types: ['process.exited'], limit: 10_000 })
      expect(new Set(eventsOf(events).map(({ data }) => data.process)).size).toBe(3_000)
      expect(seqsOf(events)).toHaveLength(3_000)
    })

    it.each([
      ['NUL', 'a\0b'],
      ['a lone surrogate', 'a\ud800b'],
      ['an emoji', '🧪'],
      ['spaces', ' a b '],
      ['300 letters', 'x'.repeat(300)],
    ])('closes work whose id has %s, unless the id was rejected', async (_name, id) => {
      const fixture = await newStoreFixture(makeStore)
      const store = await fixture.open()
      const journal = await store.journal('a')
      const accepted: JournalEvent[] = []
      for (const kind of workNames) {
        await journal.append([work[kind](id).start]).then(
          (events) => accepted.push(...events),
          (error: unknown) => expect(error).toMatchObject({ code: 'event_invalid' }),
        )
      }
      await fixture.crash(store)
      const events = await eventsIn(await (await fixture.open()).journal('a'))
      expect(events).toHaveLength(accepted.length === 0 ? 0 : accepted.length * 2 + 1)
    })
  })
}

async function eventsIn(journal: Journal): Promise<JournalEvent[]> {
  return eventsOf((await journal.read({ limit: 10_000 })).events)
}

function closedBy(recovered: JournalEvent | undefined): string[] {
  const closed = recovered?.data.closed
  if (!Array.isArray(closed)) return []
  return closed.map(({ kind, id }) => `${kind} ${id}`).toSorted()
}
