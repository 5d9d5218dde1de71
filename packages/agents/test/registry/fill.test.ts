import { expect, test } from 'vitest'
import { fill } from '../../src/registry/fill.ts'

test.each([
  ['{home}/.codex', { home: '/home/sandbox' }, '/home/sandbox/.codex'],
  ['{url} {key} {model}', { url: 'u', key: 'k', model: 'm' }, 'u k m'],
  ['{model} and {model}', { model: '$&' }, '$& and $&'],
  ['{model}', {}, '{model}'],
  ['{"a":{"b":1}}', { url: 'u' }, '{"a":{"b":1}}'],
  ['{url}', { url: '{key}', key: 'k' }, '{key}'],
])('fills the template %s', (template, values, filled) => {
  expect(fill(template, values)).toBe(filled)
})
