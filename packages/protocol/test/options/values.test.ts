import { expect, it } from 'vitest'
import * as z from 'zod/mini'
import { checkOptions, strict } from '../../src/options/index.ts'
import { optionally } from '../../src/options/values.ts'

it('optionally() creates the schema of a value when one is given, once', () => {
  let created = 0
  const limits = () => {
    created += 1
    return strict({ memoryBytes: z.optional(z.number()) })
  }
  const schema = strict({ name: z.string(), limits: optionally(limits) })
  checkOptions('options', schema, { name: 'one' })
  checkOptions('options', schema, { name: 'one', limits: undefined })
  expect(created).toBe(0)
  checkOptions('options', schema, { name: 'one', limits: { memoryBytes: 1 } })
  expect(() => checkOptions('options', schema, { name: 'one', limits: { memory: 1 } })).toThrow(
    'limits: unknown key "memory"; did you mean "memoryBytes"?',
  )
  expect(created).toBe(1)
})

it('optionally() lets an unknown key suggest a key of the value', () => {
  const schema = strict({ limits: optionally(() => strict({ memoryBytes: z.number() })) })
  expect(() => checkOptions('options', schema, { memory: 1 })).toThrow('did you mean "limits.memoryBytes"?')
})
