import { describe, expect, it } from 'vitest'
import { commandPolicy } from '../src/command-policy.ts'
import { judge } from '../src/judge.ts'
import { verdict } from './verdicts.ts'

describe('a command that cannot be judged with certainty', () => {
  it.each([
    'echo $(date)',
    'echo `date`',
    '$X',
    '"$X" y',
    'r$X',
    '/bin/r?',
    'echo $X',
    'echo "$X"',
    'echo "$@"',
    'echo "a$@"',
    'echo a$X',
    'echo -$X',
    'ls *',
    'echo {a,b}',
    '{rm,-rf,/}',
    'echo $((1 + 1))',
    `echo "\${x:=1}"`,
    `echo "a\${x@P}"`,
    'eval ls',
    '. ./x',
    'source x',
    'sh -c ls',
    'bash x.sh',
    'curl x | sh',
    'sh <<E\nls\nE',
    'xargs ls',
    'find . -exec ls {} +',
    'find . -delete',
    'cat <(ls)',
    'f() { ls; }',
    "alias ls='x'",
    "trap 'ls' EXIT",
    'PATH=/tmp ls',
    'LD_PRELOAD=x ls',
    'env PATH=/tmp ls',
    'export PATH=/tmp',
    'read -r PATH',
    'for PATH in /tmp; do ls; done',
    'IFS=x',
    'BASH_ENV=x ls',
    'PYTHONPATH=x ls',
    'GIT_SSH_COMMAND=x git fetch',
    'NODE_OPTIONS=x node y',
    'set -k',
    'python -c x',
    'python3 -W ignore -c x',
    'python',
    'echo x | python -',
    'perl -ne x',
    'node -e x',
    'node --eval=x',
    'ruby -e x',
    "awk '{ system(x) }'",
    "sed '1e ls'",
    "sed 's/a/b/w x'",
    "git -c alias.x='!ls' x",
    'tar --to-command=x -xf y',
    'echo x > ~/.bashrc',
    'echo x >> y',
    'echo x >| y',
    'echo x >& y',
    'echo x &> y',
    'echo x <> y',
    'echo x > "$y"',
    'cat < /dev/tcp/a/1',
    '> x',
    "echo 'x",
    'echo "x',
    'echo `x',
    'echo $(x',
    'echo ${x',
    '(ls',
    'ls)',
    'a=(ls)',
    'ls (x)',
    'cat <<E\nx',
    'cat <<E',
    'cat <<E $(x\ny)\nE',
    "$'ls'",
    '[[ -v x ]]',
    'for ((;;)); do ls; done',
    'case x in a b) ls;; esac',
    'ls \0',
    "''",
    `echo ${'x'.repeat(70_000)}`,
    `${'$('.repeat(60)}ls${')'.repeat(60)}`,
    `${'('.repeat(60)}ls${')'.repeat(60)}`,
    `${'env '.repeat(60)}ls`,
  ])('asks about %j even if everything is allowed', (command) => {
    expect(verdict({ allow: ['*'], otherwise: 'allow' }, command, 'sh')).toBe('ask')
  })

  it("reads $'…' where the shell is known to", () => {
    expect(verdict({ allow: ['echo *'] }, "echo $'a\\n\\x41'", 'bash')).toBe('allow')
    expect(verdict({ deny: ['rm *'] }, "$'\\x72m' x", 'bash')).toBe('deny')
  })

  it.each([{ argv: [] }, { argv: [''] }, { argv: ['a\0'] }, { argv: ['a', 'x'.repeat(70_000)] }])(
    'makes an argv that cannot run a question',
    ({ argv }) => {
      expect(verdict({ otherwise: 'allow' }, argv)).toBe('ask')
    },
  )

  it('asks about an uncertain command even if everything else is denied', () => {
    const rules = { allow: ['echo *'], otherwise: 'deny' } as const
    expect(verdict(rules, 'echo $x')).toBe('ask')
    expect(verdict(rules, '$x')).toBe('ask')
    expect(verdict(rules, 'echo x > y')).toBe('ask')
    expect(verdict(rules, 'echo $((1 + 2))')).toBe('ask')
    expect(verdict(rules, 'ls $x')).toBe('deny')
    expect(verdict(rules, 'env ls')).toBe('deny')
    expect(verdict(rules, 'env echo x')).toBe('allow')
  })
})

describe('a judgement', () => {
  const policy = commandPolicy({ allow: ['pnpm *'], ask: ['pnpm publish *'], deny: ['sudo *'] })

  it('reports which part matched which rule', () => {
    expect(judge(policy, 'pnpm test; sudo rm -rf /')).toEqual({
      verdict: 'deny',
      parts: [
        {
          argv: ['pnpm', 'test'],
          verdict: 'allow',
          rule: 'pnpm *',
          reason: '"pnpm test" matches the allow rule "pnpm *".',
        },
        {
          argv: ['sudo', 'rm', '-rf', '/'],
          verdict: 'deny',
          rule: 'sudo *',
          reason: '"sudo rm -rf /" matches the deny rule "sudo *".',
        },
        {
          argv: ['rm', '-rf', '/'],
          verdict: 'ask',
          reason: '"rm -rf /" matches no rule, and the policy\'s default is ask.',
        },
      ],
      reason: '"sudo rm -rf /" matches the deny rule "sudo *".',
    })
  })

  it('lets ask beat allow', () => {
    expect(judge(policy, 'pnpm publish').reason).toBe('"pnpm publish" matches the ask rule "pnpm publish *".')
  })

  it('shows word boundaries and escapes control characters', () => {
    expect(judge(policy, ['sudo', 'a b', '\x1b[2J\u202e']).reason).toBe(
      `"sudo 'a b' '\\u{1b}[2J\\u{202e}'" matches the deny rule "sudo *".`,
    )
  })

  it.each([
    ['characters of two units', '😀'.repeat(300), '😀'.repeat(194)],
    ['escaped characters', '\u202e'.repeat(300), '\\u{202e}'.repeat(25).slice(0, 194)],
  ])('a reason is cut to 200 characters after escaping, with %s', (_, text, kept) => {
    const policy = commandPolicy({ deny: ['sudo *'] })
    const { reason } = judge(policy, `sudo ${text}`)
    expect(reason).toBe(`"sudo '${kept}…" matches the deny rule "sudo *".`)
    expect(reason.isWellFormed()).toBe(true)
  })

  it.each([
    ["'' x", `"'' x" cannot be judged with certainty: the name of its program is empty.`],
    ['"$X" y', '"$X y" cannot be judged with certainty: the program $X is known only at run time.'],
  ])('the reason for %s says what is uncertain about the program', (text, reason) => {
    expect(judge(commandPolicy(), text).reason).toBe(reason)
  })

  it('reports the part that could not be parsed', () => {
    expect(judge(policy, "pnpm 'x").reason).toBe(
      'The command cannot be judged with certainty: a single quote is not closed.',
    )
  })
})
