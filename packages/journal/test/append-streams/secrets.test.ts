import type { EventInput, JournalEvent } from '@vitrine/protocol'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Journal, Store } from '../../src/index.ts'
import { eventsOf, openMemory, stores } from '../fixtures/open.ts'
import { collector } from '../sinks-feed/collector.ts'

const secret = 'hunter2-planted'
const mark = '[redacted:TOKEN]'

function output(data: string, fields: object = {}): EventInput {
  return {
    type: 'process.output',
    data: { process: 'p', stream: 'stdout', offset: 0, data, encoding: 'utf8', ...fields },
  }
}

async function open(openStore = openMemory): Promise<{ store: Store; record: Journal }> {
  const store = await openStore()
  store.addSecret('TOKEN', secret)
  return { store, record: await store.journal('sbx_a') }
}

/** Events are not held for up to three characters of a secret, so these may precede the marker. */
function masked(whole: string): RegExp {
  const literal = whole.split(secret).map((part) => part.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&'))
  return new RegExp(`^${literal.join('(?:h|hu|hun)?\\[redacted:TOKEN\\]')}$`)
}

const textOf = (events: readonly JournalEvent[]) => events.map(({ data }) => data.data).join('')

/** Appends one after another without waiting, and ends. */
async function stream(record: Journal, chunks: readonly string[]): Promise<readonly JournalEvent[]> {
  const out = record.stream()
  const appended = chunks.map((chunk) => out.append([output(chunk)]))
  await out.end()
  await Promise.all(appended)
  return eventsOf(record)
}

describe.each(stores)('a secret that is split over events of a %s journal', (_kind, openStore) => {
  it('is not visible to any reader, wherever it is split', async () => {
    const { store, record } = await open(openStore)
    const seen: string[] = []
    const sink = collector()
    record.tap((event) => void seen.push(JSON.stringify(event)))
    await store.addSink('audit', sink.sink)
    const out = record.stream()
    const appended: Promise<unknown>[] = []
    for (let place = 1; place < secret.length; place += 1) {
      appended.push(
        out.append([output(`<${secret.slice(0, place)}`)]),
        out.append([output(`${secret.slice(place)}>`)]),
      )
    }
    await out.end()
    await Promise.all(appended)
    await store.flush()
    const events = await eventsOf(record)
    expect(textOf(events)).toMatch(masked(`<${secret}>`.repeat(secret.length - 1)))
    expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index + 1))
    for (const shown of [...seen, JSON.stringify(sink.items)]) expect(shown).not.toContain('planted')
  })

  it('is masked over any number of events', async () => {
    const { record } = await open(openStore)
    const events = await stream(record, ['before ', ...secret, ' after'])
    expect(textOf(events)).toMatch(masked(`before ${secret} after`))
    expect(events).toHaveLength(secret.length + 2)
  })
})

describe('a stream', () => {
  it('changes nothing but the secrets and keeps the order, however the text is split into events', async () => {
    const piece = fc.oneof(
      fc.constantFrom(secret, 'hunter', 'hunter2-plante', 'h', 'hunter2-planted2', ' ', '\n'),
      fc.string({ maxLength: 8 }),
    )
    const cuts = fc.array(fc.integer({ min: 1, max: 12 }), { minLength: 1, maxLength: 20 })
    await fc.assert(
      fc.asyncProperty(fc.array(piece, { maxLength: 20 }), cuts, async (pieces, sizes) => {
        const whole = pieces.join('')
        const chunks: string[] = []
        for (let at = 0, index = 0; at < whole.length; index += 1) {
          const size = sizes[index % sizes.length]!
          chunks.push(whole.slice(at, at + size))
          at += size
        }
        // A secret that the end cuts off may be masked or not; another test covers that.
        chunks.push('.')
        const store = await openMemory()
        store.addSecret('TOKEN', secret)
        const events = await stream(await store.journal('sbx_a'), chunks)
        expect(textOf(events)).toMatch(masked(`${whole}.`))
        expect(events).toHaveLength(chunks.length)
        await store.close()
      }),
      { numRuns: 60 },
    )
  })

  it('masks a secret that begins in text and ends in bytes', async () => {
    const { record } = await open()
    const out = record.stream()
    const base64 = (text: string) => Buffer.from(text).toString('base64')
    const appended = [
      out.append([output('a hunter2')]),
      out.append([output(base64('-plan'), { encoding: 'base64' })]),
      out.append([output(base64('ted b'), { encoding: 'base64' })]),
    ]
    await out.end()
    await Promise.all(appended)
    const decoded = (await eventsOf(record)).map(({ data }) =>
      Buffer.from(String(data.data), data.encoding === 'base64' ? 'base64' : 'utf8').toString(),
    )
    expect(decoded.join('')).toBe(`a ${mark} b`)
  })

  it('masks a secret that is split over the events of one call', async () => {
    const { record } = await open()
    const out = record.stream()
    const [one, two] = await out.append([output('a hunter2-'), output('planted b')])
    expect(`${one?.data.data}${two?.data.data}`).toBe(`a ${mark} b`)
  })

  it('does not join the texts of two streams', async () => {
    const { record } = await open()
    const [stdout, stderr] = [record.stream(), record.stream()]
    const appended = [stdout.append([output('hunte')]), stderr.append([output('r2-planted')])]
    await Promise.all([stdout.end(), stderr.end()])
    await Promise.all(appended)
    const texts = (await eventsOf(record)).map(({ data }) => data.data)
    expect(texts.toSorted()).toEqual(['hunte', 'r2-planted'])
  })

  it('masks the rest of a secret whose beginning was committed after the hold time', async () => {
    const { record } = await open()
    const out = record.stream()
    // Without a call to end(), the beginning is committed after the hold time.
    await out.append([output('a hunter2-')])
    const rest = out.append([output('planted b')])
    await out.end()
    await rest
    const text = textOf(await eventsOf(record))
    expect(text).not.toContain('planted')
    expect(text.startsWith('a ') && text.endsWith(' b')).toBe(true)
  })
})
