import fc from 'fast-check'
import { forEachChild, parse, type SyntaxNode } from 'unbash'
import { describe, expect, it } from 'vitest'
import { commandPolicy } from '../src/command-policy.ts'
import { judge } from '../src/judge.ts'
import type { Bypass } from './fixtures/bypasses/bypass.ts'
import { bypasses } from './fixtures/bypasses/index.ts'
import { ordinary } from './fixtures/ordinary.ts'
import { script, soup } from './scripts.ts'

const everything = commandPolicy({ allow: ['*'], otherwise: 'allow' })
const numRuns = Number(process.env.POLICY_RUNS ?? 500)

/** Texts in which the properties below once found a program that was not judged. */
const found = ['time - ', 'time -x', 'time a#=', 'time a+=b c', 'env - x', 'time time if aa']

/** The names of the programs that the other parser sees, as far as they are plain. */
function programsOf(text: string): string[] {
  const names: string[] = []
  const visit = (node: SyntaxNode): void => {
    if (node.type === 'Command' && node.name && !/[$`*?[\]{}~<>()\\]/.test(node.name.text))
      names.push(node.name.value)
    forEachChild(node, visit)
  }
  visit(parse(text))
  return names
}

/** The programs that only the other parser sees, in a text that is allowed. */
function missedIn(text: string): readonly string[] {
  const { verdict, parts } = judge(everything, text, { shell: 'bash' })
  if (verdict !== 'allow') return []
  const seen = new Set(parts.map(({ argv: [program] }) => program))
  return programsOf(text).filter((name) => !seen.has(name))
}

describe('a program that another parser of bash sees is judged, or the verdict is at least ask', () => {
  it.each([
    { name: 'a script of every construct', scripts: script },
    { name: 'a soup of tokens', scripts: soup },
  ])('in $name', ({ scripts }) => {
    let compared = 0
    fc.assert(
      fc.property(scripts, (text) => {
        if (judge(everything, text, { shell: 'bash' }).verdict === 'allow')
          compared += programsOf(text).length
        expect(missedIn(text)).toEqual([])
      }),
      { numRuns },
    )
    expect(compared).toBeGreaterThan(numRuns / 20)
  })

  it('in ordinary commands and in every way around a rule', () => {
    const textOf = (bypass: Bypass) => (typeof bypass === 'string' ? bypass : bypass[1])
    const texts = [...found, ...ordinary, ...Object.values(bypasses).flat().map(textOf)]
    expect(texts.flatMap(missedIn)).toEqual([])
    expect(ordinary.flatMap(programsOf).length).toBeGreaterThan(ordinary.length)
  })
})
