import type { PermissionAnswer, PermissionKind } from '@vitrine/protocol'
import { describe, expect, it } from 'vitest'
import { chooseOption, completeRules, ruleFor } from '../../src/sessions/permissions.ts'

const option = (kind: PermissionKind, id: string = kind) => ({ id, name: id, kind })

describe('chooseOption', () => {
  const all = (['allow_always', 'allow_once', 'reject_once', 'reject_always'] as const).map((kind) =>
    option(kind),
  )

  it.each<[string, readonly ReturnType<typeof option>[], PermissionAnswer, string | undefined]>([
    ['by kind', all, 'allow_once', 'allow_once'],
    ['by id', [option('allow_once', 'x')], { option: 'x' }, 'x'],
    [
      'never more than was granted',
      [option('allow_always'), option('allow_once')],
      'allow_once',
      'allow_once',
    ],
    ['less where more is not offered', [option('allow_once')], 'allow_always', 'allow_once'],
    ['any refusal', [option('reject_always')], 'reject_once', 'reject_always'],
    ['a call-off where no refusal is offered', [option('allow_once')], 'reject_once', undefined],
    ['a call-off', all, 'cancelled', undefined],
  ])('chooseOption chooses %s', (_how, options, answer, id) => {
    expect(chooseOption(options, answer)?.id).toBe(id)
  })

  it.each<[readonly ReturnType<typeof option>[], PermissionAnswer]>([
    [[option('allow_always')], 'allow_once'],
    [[option('reject_once')], 'allow_always'],
    [all, { option: 'elsewhere' }],
    [all, 'constructor' as PermissionKind],
    [[], 'allow_once'],
  ])('chooseOption rejects an answer that is not offered: %j %j', (options, answer) => {
    expect(() => chooseOption(options, answer)).toThrow(/is not an option of this permission request/)
  })
})

describe('permission rules', () => {
  it.each([
    ['ask', 'ask'],
    ['allow', 'allow_once'],
    ['deny', 'reject_once'],
  ] as const)('applies the rule %s to every kind', (rules, answer) => {
    expect(ruleFor(completeRules(rules), 'edit')).toBe(answer)
  })

  it('prefers deny to allow', () => {
    const rules = completeRules({
      default: 'allow',
      allow: ['edit'],
      allowAlways: ['edit', 'read'],
      deny: ['edit'],
    })
    expect(['edit', 'read', 'fetch'].map((kind) => ruleFor(rules, kind))).toEqual([
      'reject_once',
      'allow_always',
      'allow_once',
    ])
  })

  it('asks for up to an hour by default', () => {
    expect(completeRules()).toMatchObject({ default: 'ask', timeoutMs: 3_600_000, onTimeout: 'reject_once' })
  })
})
