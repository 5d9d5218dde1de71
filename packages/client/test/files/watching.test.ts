import { expect, it } from 'vitest'
import { newScene } from '../fixture.ts'
import { event, eventFrame, heartbeat, openStream, writeAndCut } from '../journal/event-server.ts'

it('watches from the call on, and goes on after its cursor when the connection is lost', async () => {
  const asked: (string | null)[] = []
  const { sandbox } = await newScene(
    (exchange) => {
      const after = exchange.query.get('after')
      asked.push(after)
      const stream = openStream(exchange)
      stream.write(heartbeat('c0'))
      const seq = after === 'now' ? 3 : 4
      setTimeout(() => writeAndCut(stream, eventFrame(seq)), 30)
    },
    { sleep: async () => undefined },
  )
  const watch = sandbox.files.watch({ ignore: ['dist'] })
  await expect.poll(() => asked).toEqual(['now'])
  expect((await watch.next()).value).toEqual(event(3))
  expect((await watch.next()).value).toEqual(event(4))
  expect(asked).toEqual(['now', 'c3'])
  await watch.return?.()
})

it('watches from a given cursor', async () => {
  const { sandbox } = await newScene((exchange) => {
    const after = exchange.query.get('after')
    if (after !== 'c7') return exchange.problem('cursor_invalid', 400)
    openStream(exchange).write(eventFrame(8))
  })
  const watch = sandbox.files.watch({ after: 'c7' })
  expect((await watch.next()).value).toEqual(event(8))
  await watch.return?.()
  await expect(sandbox.files.watch({ after: 'x' }).next()).rejects.toMatchObject({ code: 'cursor_invalid' })
})
