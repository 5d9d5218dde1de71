import { describe, expect, it } from 'vitest'
import { BeforeStop } from '../../src/engine/before-stop.ts'

describe('BeforeStop', () => {
  it('runs the hooks in order, one after the other', async () => {
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

  it('runs the hooks once, until another hook is added', async () => {
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

  it('runs all hooks when one fails, throws the first error and stays failed', async () => {
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

  it('does nothing without hooks', async () => {
    await expect(new BeforeStop().run()).resolves.toBeUndefined()
  })
})
