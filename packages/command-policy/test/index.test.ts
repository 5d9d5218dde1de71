import { expect, it } from 'vitest'
import * as commandPolicy from '../src/index.ts'

it('the index exports these values and no others', () => {
  expect(Object.keys(commandPolicy).sort()).toEqual([
    'assertCompiled',
    'commandPolicy',
    'judge',
    'policyRules',
  ])
})
