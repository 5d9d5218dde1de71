import { expect, it } from 'vitest'
import { allItems } from '../src/events/all-items.ts'
import { eventsOf } from '../src/events/coverage.ts'
import { scale } from '../src/scale.ts'
import { eventually } from '../src/waiting/within.ts'
import { CuttingProxy } from './cutting-proxy.ts'
import { InProcessDaemon } from './daemons.ts'

const cuts = scale.watchCuts

it(
  `\`files.watch\` misses and repeats nothing when its connection is cut ${cuts} times`,
  async () => {
    const daemon = await InProcessDaemon.open()
    const proxy = await CuttingProxy.to(daemon.url)
    const client = daemon.connect(proxy.url)
    try {
      const created = await daemon.client.create({ local: { isolation: 'none' } })
      const sandbox = await client.attach(created.id)
      const { cursor: after } = await created.journal.read({ limit: 1_000 })
      const seen: number[] = []
      const stop = new AbortController()
      const watching = (async () => {
        for await (const { seq } of sandbox.files.watch({ after, signal: stop.signal })) seen.push(seq)
      })().catch((error: unknown) => {
        if (!stop.signal.aborted) throw error
      })
      let written = 0
      for (let cut = 0; cut < cuts; cut += proxy.cut()) {
        written += 1
        await created.files.write(`file-${written % 20}`, `${written}`)
        await created.files.flush()
        await eventually('a change is delivered', () => proxy.delivering > 0)
      }
      await created.files.write('last', 'x')
      await created.files.flush()
      const recorded = eventsOf(await allItems(created.journal, { types: ['file.*'] })).map(({ seq }) => seq)
      await eventually('all changes are seen', () => seen.length >= recorded.length)
      stop.abort()
      await watching
      expect(seen).toEqual(recorded)
      expect(written).toBeGreaterThanOrEqual(cuts / 2)
    } finally {
      await client.close()
      await proxy.close()
      await daemon.close()
    }
  },
  60_000 + cuts * 10_000,
)
