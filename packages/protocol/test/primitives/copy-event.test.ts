import { describe, expect, it } from 'vitest'
import { copyEvent } from '../../src/primitives/index.ts'

const text =
  '{"type":"token","data":{"text":"a","list":[1,[true,{"deep":null}]],"empty":{},"__proto__":{"admin":true},"toString":"own"}}'

function frozen<T>(value: T): T {
  if (typeof value !== 'object' || value === null) return value
  for (const inner of Object.values(value)) frozen(inner)
  return Object.freeze(value)
}

describe('the copy of an event', () => {
  it('is the same JSON, in the same order, with keys such as __proto__', () => {
    const copy = copyEvent(JSON.parse(text))
    expect(JSON.stringify(copy)).toBe(text)
    expect(Object.getPrototypeOf(copy.data)).toBe(Object.prototype)
    expect(copy.data.admin).toBeUndefined()
  })

  it('can be changed at every depth when the event is frozen, and leaves the event as it was', () => {
    const event = frozen(JSON.parse(text))
    const copy = copyEvent(event)
    copy.type = 'changed'
    copy.data.list[1][1].deep = 'changed'
    copy.data.list.push('changed')
    copy.data.empty.more = 'changed'
    expect(JSON.stringify(event)).toBe(text)
  })
})
