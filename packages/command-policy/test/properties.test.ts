import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { commandPolicy } from '../src/command-policy.ts'
import { judge } from '../src/judge.ts'
import { parseShell } from '../src/shell/parse.ts'
import { literalValue } from '../src/shell/word.ts'
import { quotedWord, repeatable, soup } from './scripts.ts'

describe('reading a shell text', () => {
  it('parses an argv back from any way of quoting it', () => {
    fc.assert(
      fc.property(fc.array(quotedWord, { minLength: 1, maxLength: 5 }), (words) => {
        const { commands, uncertainties } = parseShell(words.map(({ written }) => written).join(' '))
        expect(uncertainties).toEqual([])
        expect(commands.map((command) => command.words.map(literalValue))).toEqual([
          words.map(({ value }) => value),
        ])
      }),
    )
  })
})

describe('judging', () => {
  const policy = commandPolicy({ allow: ['*'], deny: ['rm -rf *'], otherwise: 'allow' })
  const denied = fc.constantFrom(
    'rm -rf /',
    'rm -fr x',
    '/bin/rm -r -f x',
    "'rm' --recursive -f x",
    'env rm -vrf x',
  )
  const harmless = fc
    .tuple(fc.constantFrom('ls', 'echo', 'x=1 pnpm', 'nice cat'), fc.array(quotedWord, { maxLength: 3 }))
    .map(([name, words]) => [name, ...words.map(({ written }) => written)].join(' '))
  const separator = fc.constantFrom(';', ' && ', ' || ', '|', ' |& ', '&', '\n', ' ;\n ', ' # x\n', ' &&\n')
  const around = fc.constantFrom<[string, string]>(
    ['', ''],
    ['(', ')'],
    ['{ ', '; }'],
    ['! ', ''],
    ['if ', '; then ls; fi'],
    ['while ls; do ', '; done'],
    ['echo "$(', ')"'],
    ['echo `', '`'],
    ["sh -c '", "'"],
    ['cat <<E\n$(', ')\nE\n'],
  )

  it('denies a list or pipeline with a denied command at any position', () => {
    const list = fc.array(fc.tuple(harmless, separator), { maxLength: 4 })
    fc.assert(
      fc.property(list, denied, around, separator, list, (before, command, [open, close], next, after) => {
        const quoted = open.endsWith("'") ? command.replaceAll("'", '"') : command
        const text = [...before.flat(), `${open}${quoted}${close}`, next, ...after.flat()].join('')
        expect(judge(policy, text).verdict).toBe('deny')
      }),
    )
  })

  it('never throws for any input', () => {
    const anything = fc.oneof(fc.string({ unit: 'binary' }), soup)
    fc.assert(
      fc.property(anything, fc.constantFrom('sh', 'bash', 'zsh'), (text, shell) => {
        expect(['allow', 'ask', 'deny']).toContain(judge(policy, text, shell).verdict)
        expect(['allow', 'ask', 'deny']).toContain(judge(policy, text.split(' ')).verdict)
      }),
      { numRuns: 2_000 },
    )
  })

  it.each(repeatable)('reaches a verdict on a command of maximum length made of %j', (piece) => {
    const text = piece.repeat(Math.floor(65_000 / piece.length))
    for (const command of [text, `rm ${text}`, text.split(' ')])
      expect(['allow', 'ask', 'deny']).toContain(judge(policy, command).verdict)
  })
})
