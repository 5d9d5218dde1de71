import { existsSync } from 'node:fs'
import fc from 'fast-check'
import { afterAll, describe, expect, it } from 'vitest'
import { scale } from '../../../conformance/src/scale.ts'
import { commandPolicy } from '../src/command-policy.ts'
import { judge } from '../src/judge.ts'
import { script, soup } from './scripts.ts'
import { StubPrograms } from './stub-programs.ts'

const everything = commandPolicy({ allow: ['*'], otherwise: 'allow' })
const stubs = new StubPrograms()
afterAll(() => stubs[Symbol.dispose]())

const shells = ['/bin/sh', '/bin/bash'].filter((shell) => existsSync(shell))
const numRuns = scale.scripts

/** Whether the policy judged a call; arguments that are known only at run time may differ. */
function wasJudged(call: readonly string[], parts: readonly { readonly argv: readonly string[] }[]): boolean {
  return parts.some(({ argv }) => {
    if (argv[0] !== call[0]) return false
    if (argv.some((word) => /[$~*?]/.test(word))) return true
    return argv.length === call.length && argv.every((word, index) => word === call[index])
  })
}

describe.each(shells)('the commands that %s runs', (shell) => {
  it.each([
    { name: 'a script of every construct', scripts: script, runs: numRuns },
    // Few of them are both valid and allowed.
    { name: 'a soup of tokens', scripts: soup, runs: 4 * numRuns },
  ])('every command that the shell runs was judged, or the verdict is ask: $name', ({ scripts, runs }) => {
    let ran = 0
    fc.assert(
      fc.property(scripts, (text) => {
        const { verdict, parts } = judge(everything, text, shell)
        if (verdict !== 'allow') return
        const calls = stubs.run(shell, text)
        ran += calls.length
        for (const call of calls) expect(parts, JSON.stringify(call)).toSatisfy(() => wasJudged(call, parts))
      }),
      { numRuns: runs },
    )
    expect(ran).toBeGreaterThan(numRuns / 25)
  })
})
