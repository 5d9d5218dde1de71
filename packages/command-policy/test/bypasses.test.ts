import { describe, expect, it } from 'vitest'
import { commandPolicy } from '../src/command-policy.ts'
import { judge } from '../src/judge.ts'
import type { Bypass } from './fixtures/bypasses/bypass.ts'
import { bypasses } from './fixtures/bypasses/index.ts'

const policies = {
  'a list of denied commands': commandPolicy({ deny: ['touch *'], otherwise: 'allow' }),
  'a rule that allows everything': commandPolicy({ allow: ['*'], deny: ['touch *'] }),
}

function verdictOf(policy: ReturnType<typeof commandPolicy>, bypass: Bypass, shell: string) {
  const [env, command] = typeof bypass === 'string' ? [{}, bypass] : bypass
  const inRoot = (text: string) => text.replaceAll('{root}', '/srv/space')
  return judge(policy, inRoot(command), {
    shell,
    env: Object.fromEntries(Object.entries(env).map(([name, value]) => [name, inRoot(value)])),
  }).verdict
}

describe.each(Object.entries(bypasses))('%s', (_, rows) => {
  it.each(Object.entries(policies))('with %s, no spelling is allowed', (_, policy) => {
    const allowed = rows.filter((bypass) =>
      ['sh', 'bash', 'zsh', 'mksh'].some((shell) => verdictOf(policy, bypass, shell) === 'allow'),
    )
    expect(allowed).toEqual([])
  })
})

it('the table has 500 spellings, 20 and more of each kind, and none twice', () => {
  const rows = Object.values(bypasses)
  for (const kind of rows) expect(kind.length).toBeGreaterThanOrEqual(20)
  const spellings = new Set(rows.flat().map((row) => JSON.stringify(row)))
  expect(spellings.size).toBe(rows.flat().length)
  expect(spellings.size).toBeGreaterThanOrEqual(500)
})
