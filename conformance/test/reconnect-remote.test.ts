import { setTimeout as sleep } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { numbers, seqsOf } from '../src/events/coverage.ts'
import { messages } from '../src/events/inputs.ts'
import { scale } from '../src/scale.ts'
import { background } from '../src/waiting/background.ts'
import { takeTo } from '../src/waiting/take.ts'
import { eventually } from '../src/waiting/within.ts'
import { CuttingProxy } from './cutting-proxy.ts'
import { InProcessDaemon } from './daemons.ts'

const id = 'sbx_read'
const readers = 10
const { cuts, eventsWhileCut: events } = scale

it(`loses, repeats and misplaces nothing when ${cuts} connections to a daemon are cut while ${events} events pass`, async () => {
  const daemon = await InProcessDaemon.open({ journals: [id] })
  const proxy = await CuttingProxy.to(daemon.url)
  const client = daemon.connect(proxy.url)
  try {
    const writer = await daemon.host.store.journal(id)
    const tails = numbers(1, readers).map(() => background(takeTo(client.journal(id).tail(), events)))
    // Every cut connection has delivered an event, so there are at most as many rounds as cuts.
    const batch = Math.floor(events / cuts)
    for (let cut = 0; cut < cuts; cut += proxy.cut()) {
      await writer.append(messages(batch))
      await eventually('a reader receives events', () => proxy.delivering > 0)
      // Cut somewhere in the delivery of the batch.
      await sleep(Math.random() * 50)
    }
    while (writer.head.seq < events) await writer.append(messages(Math.min(400, events - writer.head.seq)))
    for (const items of await Promise.all(tails)) expect(seqsOf(items)).toEqual(numbers(1, events))
  } finally {
    await client.close()
    await proxy.close()
    await daemon.close()
  }
}, 120_000)
