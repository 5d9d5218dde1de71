import { describe, expect, it } from 'vitest'
import { commandPolicy } from '../src/command-policy.ts'
import { judge } from '../src/judge.ts'

const list = commandPolicy({ allow: ['git *'], otherwise: 'deny' })
const denies = commandPolicy({ allow: ['git *'], deny: ['touch *'], ask: ['curl *'], otherwise: 'deny' })

describe('the value of a variable', () => {
  it('is not denied by the default of the policy, since it may be no command', () => {
    const env = { DEPLOY_HOOK: 'https://hooks.example/T0/very-secret' }
    expect(judge(list, 'git status', { env }).verdict).toBe('ask')
    expect(judge(list, "PAGER='frob x' git status").verdict).toBe('ask')
  })

  it('has no effect if it is the address of a webhook', () => {
    const env = { SLACK_WEBHOOK: 'https://hooks.example/T0/very-secret' }
    expect(judge(list, 'git status', { env }).verdict).toBe('allow')
  })

  it('tightens the verdict by deny and ask rules', () => {
    expect(judge(denies, 'git status', { env: { GIT_PAGER: 'touch x' } })).toMatchObject({
      verdict: 'deny',
      reason: 'GIT_PAGER names a command that git runs, and its value matches the rule "touch *".',
    })
    expect(judge(denies, 'git status', { env: { GIT_PAGER: 'curl x' } }).verdict).toBe('ask')
    expect(judge(denies, 'git status', { env: { GIT_PAGER: "sh -c 'touch x'" } }).verdict).toBe('deny')
  })

  it.each(['touch very-secret', 'curl very-secret', 'very-secret', 'a; $(very-secret', '. very-secret'])(
    'is never repeated, also not if it is %j',
    (value) => {
      const env = { GIT_PAGER: value, X_COMMAND: value, PS4: value, 'BASH_FUNC_x%%': `() { ${value}; }` }
      expect(JSON.stringify(judge(denies, 'git status', { env }))).not.toContain('very-secret')
    },
  )
})
