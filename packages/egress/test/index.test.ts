import { expect, it } from 'vitest'
import * as egress from '../src/index.ts'

it('the index exports these values and no others', () => {
  expect(Object.keys(egress).sort()).toEqual([
    'addressKind',
    'createEgressProxy',
    'proxyEnvironment',
    'readAllowList',
    'readTarget',
  ])
})
