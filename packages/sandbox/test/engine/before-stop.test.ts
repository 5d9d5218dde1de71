import { describe, expect, it } from 'vitest'
import { BeforeStop } from '../../src/engine/before-stop.ts'

describe('what must happen before a stop', () => {
  it('happens in order, one after the other', async () => {
    const before = new BeforeStop()
    const done: string[] = []
    before.add(async () => {
      await new Promise(setImmediate)
      done.push('slow')
    })
    before.add(() => void done.push('quick'))
    await before.run()
    expect(done).toEqual(['slow', 'quick'])
    expect(before.failed).toBe(false)
  })

  it('happens once, until something is added', async () => {
    const before = new BeforeStop()
    const done: string[] = []
    before.add(() => void done.push('first'))
    await before.run()
    await before.run()
    expect(done).toEqual(['first'])
    before.add(() => void done.push('second'))
    await before.run()
    expect(done).toEqual(['first', 'first', 'second'])
  })

  it('happens to the end when something of it fails; the first error is told, and it is remembered', async () => {
    const before = new BeforeStop()
    let last = false
    before.add(() => {
      throw new Error('first')
    })
    before.add(() => Promise.reject(new Error('second')))
    before.add(() => {
      last = true
    })
    await expect(before.run()).rejects.toThrow('first')
    expect([last, before.failed]).toEqual([true, true])
    await before.run()
    before.add(() => undefined)
    await expect(before.run()).rejects.toThrow('first')
    expect(before.failed).toBe(true)
  })

  it('is nothing when nothing was asked for', async () => {
    await expect(new BeforeStop().run()).resolves.toBeUndefined()
  })
})
