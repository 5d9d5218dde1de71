import { isGap } from '@vitrine/protocol'
import { expect, it } from 'vitest'
import { newScene } from '../fixture.ts'
import { eventFrame, heartbeat, openStream } from './event-server.ts'

const events = 20_000
const cuts = 200

it(`loses, repeats and misplaces none of ${events} events over ${cuts} connections that are cut anywhere`, async () => {
  let made = 0
  let connections = 0
  const making = setInterval(() => {
    made = Math.min(events, made + 150)
  }, 2)
  const { sandbox } = await newScene(async (exchange) => {
    connections += 1
    const isCut = connections <= cuts
    // Some connections end before anything was sent.
    let left = isCut ? Math.floor(Math.random() ** 2 * 30_000) : Number.POSITIVE_INFINITY
    let at = Number(exchange.query.get('after')?.slice(1) ?? 0)
    const stream = openStream(exchange)
    const say = (text: string) => {
      stream.write(text.slice(0, left))
      left -= text.length
    }
    say(heartbeat(at === 0 ? null : `c${at}`))
    while (left > 0 && !stream.destroyed && at < events) {
      while (at < made && left > 0) {
        at += 1
        say(eventFrame(at))
      }
      await new Promise(setImmediate)
    }
    if (left <= 0) setImmediate(() => stream.destroy())
  })
  const seqs: number[] = []
  for await (const item of sandbox.journal.tail()) {
    seqs.push(isGap(item) ? -1 : item.seq)
    if (seqs.length === events) break
  }
  clearInterval(making)
  expect(seqs).toEqual(Array.from({ length: events }, (_, index) => index + 1))
  expect(connections).toBeGreaterThan(cuts)
})
