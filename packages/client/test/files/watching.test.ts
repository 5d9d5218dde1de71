import { expect, it } from 'vitest'
import { newScene } from '../fixture.ts'
import { event, openStream, writeAndCut } from '../journal/event-server.ts'

it('watches from the call on, and throws when the connection is lost', async () => {
  const { sandbox, lines } = await newScene((exchange) => {
    const stream = openStream(exchange)
    stream.write('event: heartbeat\ndata: {}\n\n')
    setTimeout(() => writeAndCut(stream, `data: ${JSON.stringify(event(3))}\n\n`), 30)
  })
  const watch = sandbox.files.watch({ ignore: ['dist'] })
  await expect.poll(() => lines).toEqual(['GET /v1/sandboxes/sbx_1/files/watch'])
  expect((await watch.next()).value).toEqual(event(3))
  await expect(watch.next()).rejects.toMatchObject({ code: 'connection_failed' })
  expect(await watch.next()).toMatchObject({ done: true })
  expect(lines).toHaveLength(1)
})
