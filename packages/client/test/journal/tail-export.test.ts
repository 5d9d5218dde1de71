import { expect, it } from 'vitest'
import { newScene } from '../fixture.ts'
import { event, openStream, writeAndCut } from './event-server.ts'

function itemFrame(seq: number, item: unknown = { event: event(seq), hash: `h${seq}` }): string {
  return `id: ${seq}\ndata: ${JSON.stringify(item)}\n\n`
}

const heartbeat = 'event: heartbeat\ndata: {}\n\n'

it('continues after the last item that it has, an event or a hole, when the connection is cut', async () => {
  const afters: (string | null)[] = []
  const hole = { hole: { from: 3, to: 7, hash: 'h7', reason: 'events', types: ['*'] } }
  const connections = [
    heartbeat + itemFrame(1) + itemFrame(2).slice(0, -5),
    itemFrame(1) + itemFrame(2) + itemFrame(7, hole),
    heartbeat,
    itemFrame(8) + itemFrame(9),
  ]
  const { sandbox } = await newScene((exchange) => {
    afters.push(exchange.query.get('after'))
    const text = connections[afters.length - 1]
    if (text !== undefined) writeAndCut(openStream(exchange), text)
  })
  const items: unknown[] = []
  for await (const item of sandbox.journal.tailExport()) {
    items.push(item)
    if (items.length === 5) break
  }
  expect(items).toEqual(
    [1, 2, 7, 8, 9].map((seq) => (seq === 7 ? hole : { event: event(seq), hash: `h${seq}` })),
  )
  expect(items.every((item) => Object.isFrozen(item))).toBe(true)
  expect(afters).toEqual(['0', '1', '7', '7'])
})

it('refuses invalid options before it sends a request', async () => {
  let requests = 0
  const { sandbox } = await newScene(({ response }) => {
    requests += 1
    response.end()
  })
  for (const options of [{ after: -1 }, { after: 1.5 }, { afetr: 3 }])
    expect(() => sandbox.journal.tailExport(options)).toThrow(
      expect.objectContaining({ code: 'argument_invalid' }),
    )
  await expect(sandbox.journal.verify({ heads: 1 } as object)).rejects.toMatchObject({
    code: 'argument_invalid',
  })
  const untyped: readonly object[] = [{ journals: ['sbx_1'] }, { scope: 'all' }]
  for (const options of untyped) {
    await expect(sandbox.journal.read(options)).rejects.toMatchObject({ code: 'argument_invalid' })
    await expect(sandbox.journal.summary(options)).rejects.toMatchObject({ code: 'argument_invalid' })
    expect(() => sandbox.journal.tail(options)).toThrow(expect.objectContaining({ code: 'argument_invalid' }))
  }
  expect(requests).toBe(0)
})
