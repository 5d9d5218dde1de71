import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, it } from 'vitest'
import { HttpResponse } from '../../src/http/http-response.ts'
import { send } from '../../src/http/send.ts'
import { TurnBudget } from '../../src/http/turn-budget.ts'

const partBytes = 64 * 1024
const parts = 100
const readers = 5

it('lets the event loop turn while fast readers catch up', async () => {
  const turn = new TurnBudget(0)
  let made = 0
  async function* body() {
    for (let index = 0; index < parts; index += 1) {
      made += 1
      yield new Uint8Array(partBytes)
    }
  }
  const server = createServer((_request, response) => {
    void send(new HttpResponse(200, {}, body()), response, 60_000, turn)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const received = Promise.all(
    Array.from({ length: readers }, async () => (await fetch(`http://127.0.0.1:${port}`)).arrayBuffer()),
  )
  let [before, most] = [0, 0]
  while (made < parts * readers) {
    await new Promise(setImmediate)
    most = Math.max(most, made - before)
    before = made
  }
  expect((await received).map(({ byteLength }) => byteLength)).toEqual(Array(readers).fill(parts * partBytes))
  // With no time to share, one reader gets one part in a turn; two turns may lie between two looks.
  expect(most).toBeLessThanOrEqual(2)
  server.close()
})

it('sends a live body without a turn, and any other only in its turn', async () => {
  class NoTurns extends TurnBudget {
    waiting = 0
    override next(): Promise<void> {
      this.waiting += 1
      return new Promise(() => undefined)
    }
  }
  const turn = new NoTurns(0)
  const body = (isLive: boolean) => ({
    isLive: () => isLive,
    async *[Symbol.asyncIterator]() {
      yield Buffer.from('part')
    },
  })
  const server = createServer(({ url }, response) => {
    void send(new HttpResponse(200, {}, body(url === '/live')), response, 60_000, turn)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  expect(await (await fetch(`http://127.0.0.1:${port}/live`)).text()).toBe('part')
  expect(turn.waiting).toBe(0)
  await fetch(`http://127.0.0.1:${port}/other`)
  expect(turn.waiting).toBe(1)
  server.closeAllConnections()
  server.close()
})

it('resumes one of those that wait in each turn, in their order', async () => {
  const budget = new TurnBudget(0)
  const order: string[] = []
  const all = ['one', 'two', 'three'].map(async (name) => {
    await budget.next()
    order.push(name)
  })
  await Promise.resolve()
  expect(order).toEqual([])
  await all[0]
  expect(order).toEqual(['one'])
  await Promise.all(all)
  expect(order).toEqual(['one', 'two', 'three'])
})

it('resumes those that wait before one that goes on, while there is time', async () => {
  const budget = new TurnBudget(0)
  const order: string[] = []
  const first = budget.next()
  const second = budget.next()
  await first
  order.push('first')
  const again = budget.next()
  await second
  order.push('second')
  await again
  order.push('first again')
  expect(order).toEqual(['first', 'second', 'first again'])
})

it('lets nobody wait while the time of a turn is not used up', () => {
  const budget = new TurnBudget(60_000)
  for (let part = 0; part < 1_000; part += 1) expect(budget.next()).toBeUndefined()
})
