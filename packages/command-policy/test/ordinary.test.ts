import { describe, expect, it } from 'vitest'
import { commandPolicy } from '../src/command-policy.ts'
import { judge } from '../src/judge.ts'
import { named, ordinary, ordinaryVariables } from './fixtures/ordinary.ts'

const deny = ['rm -rf *', 'rm -r *', 'sudo *', 'touch *']
const list = commandPolicy({ deny, otherwise: 'allow' })

describe('ordinary commands of developers', () => {
  it('there are 120 and more of them', () => {
    expect(new Set(ordinary).size).toBe(ordinary.length)
    expect(ordinary.length).toBeGreaterThanOrEqual(120)
  })

  it.each(['sh', 'bash'])('a list of denied commands lets them run under %s', (shell) => {
    const judged = ordinary.map((command) => ({ command, ...judge(list, command, { shell }) }))
    expect(judged.filter(({ verdict }) => verdict !== 'allow').map(({ reason }) => reason)).toEqual([])
  })

  it.each(ordinaryVariables)('the variables %j change nothing', (env) => {
    expect(judge(list, 'git status', { env })).toMatchObject({ verdict: 'allow' })
  })

  it.each(named)('%j runs what is not read, so it needs the rule %j', (command, rule) => {
    expect(judge(list, command)).toMatchObject({
      verdict: 'ask',
      reason: expect.stringContaining('needs an allow rule that names it'),
    })
    expect(judge(commandPolicy({ deny, allow: [rule], otherwise: 'allow' }), command)).toMatchObject({
      verdict: 'allow',
    })
    expect(judge(commandPolicy({ deny, allow: ['*'] }), command).verdict).toBe('ask')
    expect(judge(commandPolicy({ deny, otherwise: 'deny' }), command).verdict).toBe('deny')
  })
})
