import { expect, test } from 'vitest'
import { memoryStore, openStore, sqliteStore } from '../src/index.ts'

// Callers in plain JavaScript have no type checker.
const wrong = (value: unknown) => value as never

test.each([undefined, 'data/journal.db', {}])(
  'opening %j as a store fails with an example of a store',
  async (driver) => {
    await expect(openStore(wrong(driver))).rejects.toMatchObject({
      code: 'argument_invalid',
      message: expect.stringContaining('openStore: expected a store'),
    })
  },
)

test('a SQLite store without options fails with the missing path', () => {
  expect(() => sqliteStore(wrong(undefined))).toThrow('path: expected the path of a file, got nothing')
})

test.each([undefined, { type: 'log.message' }, 'x'])(
  'appending %j fails and asks for an array',
  async (events) => {
    await using store = await openStore(memoryStore())
    const journal = await store.journal('sbx_a')
    await expect(journal.append(wrong(events))).rejects.toMatchObject({ code: 'argument_invalid' })
  },
)

test('an operation without a function is rejected before anything is written', async () => {
  await using store = await openStore(memoryStore())
  const journal = await store.journal('sbx_a')
  await expect(journal.operate('ls', {}, wrong(undefined))).rejects.toMatchObject({
    code: 'argument_invalid',
  })
  expect((await journal.read()).events).toEqual([])
})

test.each([undefined, {}, () => {}])('adding %j as a sink is refused', async (sink) => {
  await using store = await openStore(memoryStore())
  await expect(store.addSink('audit', wrong(sink))).rejects.toMatchObject({ code: 'argument_invalid' })
  expect(store.sinks).toEqual([])
})

test('the error about a number given as a string shows the string', async () => {
  await using store = await openStore(memoryStore())
  const journal = await store.journal('sbx_a')
  await expect(journal.read({ limit: wrong('10') })).rejects.toThrow(
    'limit: expected a whole number from 1 to 10000, got "10", a string; give it as a number.',
  )
})
