import type { EventInput, JournalItem } from '@vitrine/protocol'
import { expect, it, onTestFinished } from 'vitest'
import { numbers } from '../src/events/coverage.ts'
import { message } from '../src/events/inputs.ts'
import { scale } from '../src/scale.ts'
import { background } from '../src/waiting/background.ts'
import { eventually, withTimeLimit } from '../src/waiting/within.ts'
import { InProcessDaemon } from './daemons.ts'
import { ObservedServer } from './observed-server.ts'

const id = 'sbx_read'

const { burst, eventsForPausing: total } = scale

it(`gives each of 5 live readers all of a burst of ${burst.toLocaleString('en')} events once and in order`, async () => {
  const { daemon, writer } = await opened()
  const server = await served(daemon)
  const readers = numbers(1, 5).map(() => new Reader(server.connect().journal(id).tail()))
  const reading = readers.map((reader) => background(reader.readTo(burst)))
  await eventually('all of them to listen', async () => (await server.openStreams()) === readers.length)
  // The appends run concurrently.
  await Promise.all(
    numbers(1, burst / 500).map((at) => writer.append(numbered((at - 1) * 500 + 1, at * 500))),
  )
  await Promise.all(reading)
  for (const { seen } of readers) expect(seen).toEqual(numbers(1, burst))
}, 300_000)

it(`gives a reader that pauses until it is disconnected all of ${total.toLocaleString('en')} events once and in order, and delays no other reader`, async () => {
  // Several times more than the buffers of both sides hold.
  const padding = 'x'.repeat(1_000)
  const { daemon, writer } = await opened()
  const lenient = await served(daemon)
  const strict = await served(daemon, { stallMs: 1_000 })
  const cursors: (string | null)[] = []
  const quick = new Reader(lenient.connect().journal(id).tail())
  const slow = new Reader(
    strict
      .connect((after) => cursors.push(after))
      .journal(id)
      .tail(),
  )
  const allQuick = background(quick.readTo(total))
  const beginning = background(slow.readTo(10))
  const append = async () => {
    for (let at = 0; at < total; at += 500) await writer.append(numbered(at + 1, at + 500, padding))
  }
  await Promise.all([append(), beginning])

  // The slow reader does not read; the quick one still receives everything.
  await allQuick
  expect(quick.seen).toEqual(numbers(1, total))
  const disconnected = () =>
    eventually(
      'the reader that pauses to lose its connection',
      async () => (await strict.openStreams()) === 0,
    )
  await disconnected()
  expect(slow.seen).toEqual(numbers(1, 10))

  // The slow reader consumes the buffered events, reconnects, reads a few more and pauses again.
  const before = cursors.length
  while (cursors.length === before) await slow.read()
  await slow.readTo(slow.seen.length + 10)
  await disconnected()
  expect(slow.seen.length).toBeLessThan(total)

  await slow.readTo(total)
  expect(slow.seen).toEqual(numbers(1, total))
  const [first, ...others] = cursors
  expect(first).toBeNull()
  expect(others.length).toBeGreaterThanOrEqual(2)
  for (const cursor of others) expect(cursor).toMatch(/./)
}, 300_000)

async function opened() {
  const daemon = await InProcessDaemon.open({ journals: [id] })
  onTestFinished(() => daemon.close())
  return { daemon, writer: await daemon.host.store.journal(id) }
}

async function served(daemon: InProcessDaemon, limits = {}): Promise<ObservedServer> {
  const server = await ObservedServer.of(daemon.host, limits)
  onTestFinished(() => server.close())
  return server
}

/** Events whose messages start with their number. */
function numbered(from: number, to: number, padding = ''): EventInput[] {
  return numbers(from, to).map((number) => message(`${number} ${padding}`))
}

/** Reads on demand and stores the numbers of the received events. */
class Reader {
  readonly seen: number[] = []
  readonly #tail: AsyncIterator<JournalItem>

  constructor(tail: AsyncIterator<JournalItem>) {
    this.#tail = tail
  }

  async read(): Promise<void> {
    const { value, done } = await this.#tail.next()
    if (done || value.type !== 'log.message')
      throw new Error(`Expected an event, got ${JSON.stringify(value)}.`)
    const number = Number.parseInt(String(value.data.message), 10)
    // The event with seq n must carry the number n.
    if (number !== value.seq)
      throw new Error(`Expected number ${value.seq} in the event with this seq, got ${number}.`)
    this.seen.push(number)
  }

  readTo(count: number): Promise<void> {
    return withTimeLimit(`all ${count} events`, this.#readTo(count), 120_000)
  }

  async #readTo(count: number): Promise<void> {
    while (this.seen.length < count) await this.read()
  }
}
