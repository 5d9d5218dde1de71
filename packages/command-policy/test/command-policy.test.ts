import { isVitrineError } from '@vitrine/protocol'
import { describe, expect, it } from 'vitest'
import { type CommandPolicy, commandPolicy } from '../src/command-policy.ts'
import { judge } from '../src/judge.ts'

function errorOf(make: () => unknown): unknown {
  try {
    return make()
  } catch (error) {
    return isVitrineError(error) ? `${error.code}: ${error.message}` : error
  }
}

describe('a command policy', () => {
  it('asks by default', () => {
    expect(commandPolicy().otherwise).toBe('ask')
  })

  it('returns a frozen policy', () => {
    const policy = commandPolicy({ deny: ['rm -rf *'] })
    for (const value of [
      policy,
      policy.deny,
      policy.deny[0],
      policy.deny[0]?.args,
      policy.deny[0]?.args[0],
    ]) {
      expect(Object.isFrozen(value)).toBe(true)
    }
  })

  it('treats a quoted wildcard as a plain character', () => {
    expect(commandPolicy({ deny: ["rm '*'"] }).deny[0]?.args).toEqual([['*']])
    expect(commandPolicy({ deny: ['rm *'] }).deny[0]?.args).toEqual([['', '']])
  })

  it.each<[string, string]>([
    ['', 'a command such as "git push *"'],
    ['# x', 'a command such as "git push *"'],
    ['ls; rm', 'one command'],
    ['curl * | sh', 'the parts of a list or pipeline are judged separately'],
    ['X=1 ls', 'no assignment'],
    ['rm $HOME', 'write * for any text'],
    ['rm "x', 'a double quote is not closed'],
    ['-rf *', 'a program before its flags'],
    ['cat < x', 'no redirection but > and >>'],
    ["'' x", 'a program first'],
  ])('refuses the rule %j', (rule, expected) => {
    const message = errorOf(() => commandPolicy({ deny: ['ls', rule] }))
    expect(message).toContain('argument_invalid: commandPolicy.deny[1]: expected ')
    expect(message).toContain(expected)
    expect(message).toContain(JSON.stringify(rule))
  })

  it.each<[unknown, string]>([
    [
      { denied: [] },
      'commandPolicy: unknown key "denied"; did you mean "deny"? Known keys: allow, ask, deny, otherwise.',
    ],
    [{ deny: 'rm *' }, 'commandPolicy.deny: expected an array of rules such as ["git push *"], got "rm *"'],
    [{ deny: [[]] }, 'expected a program first, got []'],
    [{ deny: [[1]] }, 'commandPolicy.deny[0][0]: expected a string, got 1'],
    [{ deny: [undefined] }, 'commandPolicy.deny[0]: expected a string or an array of strings, got nothing'],
    [{ otherwise: 'no' }, 'commandPolicy.otherwise: expected "allow", "ask" or "deny", got "no"'],
    [null, 'commandPolicy: expected an object, got null'],
  ])('refuses the options %j', (options, expected) => {
    // @ts-expect-error: what a caller without types may pass.
    expect(errorOf(() => commandPolicy(options))).toContain(expected)
  })
})

it('judges only by the result of commandPolicy: another object could lack a rule list, and so allow', () => {
  const { allow, ask, deny } = commandPolicy()
  expect(errorOf(() => judge({ allow, ask, deny } as CommandPolicy, 'ls'))).toContain(
    'argument_invalid: policy: expected the result of `commandPolicy({ … })`',
  )
})
