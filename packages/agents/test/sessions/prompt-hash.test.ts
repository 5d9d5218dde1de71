import { createHash } from 'node:crypto'
import { memoryStore, openStore } from '@vitrine/journal'
import { expect, it } from 'vitest'
import { PromptHash } from '../../src/sessions/prompt-hash.ts'

const blocks = (text: string) => [{ type: 'text' as const, text }]

async function hashing() {
  const store = await openStore(memoryStore())
  return (turn: string, text: string) => new PromptHash(turn, blocks(text), (value) => store.keyedHash(value))
}

/** A hash that a reader of the journal can compute of a guess. */
function guess(turn: string, text: string): string {
  return createHash('sha256')
    .update(JSON.stringify([turn, blocks(text)]))
    .digest('hex')
    .slice(0, 32)
}

it('is the same for the same prompt of the same turn only', async () => {
  const hash = await hashing()
  const { recorded } = hash('turn_1', 'yes')
  expect(hash('turn_1', 'yes').matches(recorded)).toBe(true)
  expect(hash('turn_1', 'no').matches(recorded)).toBe(false)
  expect(hash('turn_2', 'yes').recorded).not.toBe(recorded)
})

it('cannot be computed by a reader of the record', async () => {
  const { recorded } = (await hashing())('turn_1', 'yes')
  expect(recorded).not.toContain(guess('turn_1', 'yes'))
  expect((await hashing())('turn_1', 'yes').recorded).not.toBe(recorded)
})

it('is compared with a record of an earlier version, which had no key', async () => {
  const hash = await hashing()
  expect(hash('turn_1', 'yes').matches(guess('turn_1', 'yes'))).toBe(true)
  expect(hash('turn_1', 'no').matches(guess('turn_1', 'yes'))).toBe(false)
})

it('takes a prompt for the same if it cannot tell, because the key is lost or no hash was recorded', async () => {
  const { recorded } = (await hashing())('turn_1', 'yes')
  const other = (await hashing())('turn_1', 'no')
  expect([other.matches(recorded), other.matches(undefined)]).toEqual([true, true])
})
