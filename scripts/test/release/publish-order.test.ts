import { expect, it } from 'vitest'
import { publishOrder } from '../../release/publish-order.ts'

const names = (packages: Parameters<typeof publishOrder>[0]) => publishOrder(packages).map(({ name }) => name)

it('puts each package after those that it depends on', () => {
  const packages = [
    { name: 'a', dependencies: { b: '1.0.0', zod: '^4' } },
    { name: 'b', dependencies: { d: '1.0.0', c: '1.0.0' } },
    { name: 'd', dependencies: { c: '1.0.0' } },
    { name: 'c' },
  ]
  expect(names(packages)).toEqual(['c', 'd', 'b', 'a'])
})

it('names the packages of a cycle', () => {
  const packages = [
    { name: 'a', dependencies: { b: '1.0.0' } },
    { name: 'b', dependencies: { a: '1.0.0' } },
    { name: 'c' },
  ]
  expect(() => names(packages)).toThrow('These packages depend on each other: a, b.')
})
