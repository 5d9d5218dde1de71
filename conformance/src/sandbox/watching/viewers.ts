import type { JournalEvent } from '@vitrine/protocol'
import { describe, expect, it } from 'vitest'
import { withTimeLimit } from '../../waiting/within.ts'
import type { MakeSandbox } from '../kit.ts'
import { changeLines, changesOf, recordedChanges, watchedSandbox } from './changes.ts'

export function viewerCases(make: MakeSandbox): void {
  describe('`files.watch`', () => {
    it('`files.watch` gives every viewer the journal events since its call', async ({ skip }) => {
      const under = await watchedSandbox(make, skip)
      const { sandbox } = under
      await sandbox.files.write('before', '')
      await sandbox.files.flush()
      const viewers = [sandbox.files.watch(), sandbox.files.watch()]
      await sandbox.exec('mkdir d; : > d/a; mv d e; rm -r e')
      await sandbox.files.write('last', '')
      const seen = await Promise.all(
        viewers.map((viewer) => withTimeLimit('the last', until(viewer, 'last'))),
      )
      const recorded = (await recordedChanges(under)).filter(({ data }) => data.path !== 'before')
      // Changes found in the same scan may follow the last one.
      for (const events of seen) expect(events).toEqual(recorded.slice(0, events.length))
    })

    it('`files.watch` leaves out the paths that its own viewer ignores', async ({ skip }) => {
      const under = await watchedSandbox(make, skip)
      const { sandbox } = under
      const viewer = sandbox.files.watch({ ignore: ['*.log', 'cache'] })
      await sandbox.exec('mkdir cache; : > cache/x; : > a.log; : > a.txt; mv a.log b.txt; : > z')
      const seen = changeLines(await withTimeLimit('the last', until(viewer, 'z')))
      expect(seen.every((line) => line === 'moved a.log → b.txt' || !/cache|\.log/.test(line))).toBe(true)
      expect(seen).toContain('created z')
      expect(changeLines(await changesOf(under))).toContain('created cache/x')
    })

    it('`files.watch` goes on after a cursor, also of an event long ago', async ({ skip }) => {
      const under = await watchedSandbox(make, skip)
      const { sandbox, journal } = under
      const { cursor: start } = await journal.read({ limit: 1_000 })
      await sandbox.exec(': > a; : > b')
      await sandbox.files.write('c', '')
      await sandbox.files.flush()
      const all = await withTimeLimit('c', until(sandbox.files.watch({ after: start }), 'c'))
      const recorded = await recordedChanges(under)
      expect(all).toEqual(recorded.slice(0, all.length))
      const [first] = all
      const { cursor: middle } = await journal.read({ at: first?.seq ?? 0, limit: 1 })
      const rest = await withTimeLimit('c', until(sandbox.files.watch({ after: middle }), 'c'))
      expect(rest).toEqual(all.slice(1))
      await expect(sandbox.files.watch({ after: 'nonsense' }).next()).rejects.toMatchObject({
        code: 'cursor_invalid',
      })
    })

    it('`files.watch` ends with its signal, and when its viewer returns', async ({ skip }) => {
      const { sandbox } = await watchedSandbox(make, skip)
      const caller = new AbortController()
      const viewer = sandbox.files.watch({ signal: caller.signal })
      const next = viewer.next().catch(() => ({ done: true }))
      caller.abort()
      expect(await withTimeLimit('the end', next)).toMatchObject({ done: true })
      const other = sandbox.files.watch()
      await sandbox.files.write('a', '')
      await withTimeLimit('a change', other.next())
      await withTimeLimit('the end', Promise.resolve(other.return?.(undefined)))
    })
  })
}

async function until(viewer: AsyncIterable<JournalEvent>, path: string): Promise<JournalEvent[]> {
  const seen: JournalEvent[] = []
  for await (const event of viewer) {
    seen.push(event)
    if (event.data.path === path) break
  }
  return seen
}
