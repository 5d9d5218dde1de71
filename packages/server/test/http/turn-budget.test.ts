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
  let made = 0
  async function* body() {
    for (let index = 0; index < parts; index += 1) {
      made += 1
      yield new Uint8Array(partBytes)
    }
  }
  const server = createServer((_request, response) => {
    void send(new HttpResponse(200, {}, body()), response, 60_000)
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
  // A part is counted after it was sent, so each reader may make one more.
  expect(most).toBeLessThanOrEqual(1024 / 64 + readers)
  server.close()
})

it('resumes those that wait in their order, as many in a turn as the budget allows', async () => {
  const budget = new TurnBudget(10)
  const order: string[] = []
  expect(budget.spend(10)).toBeUndefined()
  const all = ['one', 'two', 'three', 'four'].map(async (name, index) => {
    await budget.spend(index < 2 ? 5 : 20)
    order.push(name)
  })
  await Promise.resolve()
  expect(order).toEqual([])
  await new Promise(setImmediate)
  expect(order).toEqual(['one', 'two'])
  await Promise.all(all)
  expect(order).toEqual(['one', 'two', 'three', 'four'])
  await new Promise(setImmediate)
  expect(budget.spend(1)).toBeUndefined()
})
