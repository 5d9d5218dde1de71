import { describe, expect, it } from 'vitest'
import { verdict } from './verdicts.ts'

const allow = [
  'pnpm *',
  'git log *',
  'git status',
  'ls -l *',
  'cat src/*',
  'cd *',
  'echo *',
  'true',
  './run *',
  'pnpm test > logs/*',
  'sed *',
  'awk *',
  'node *',
  'set *',
  'export *',
  '[ *',
]

describe('a rule that allows', () => {
  it.each([
    'pnpm',
    'pnpm test --run -u',
    '/usr/bin/pnpm test',
    'git log --oneline -5',
    'git status',
    'ls -l',
    'ls -l src test',
    'ls -l ./*',
    'ls -l src/*.ts',
    'cat src/a.ts',
    'cat src/../src/a.ts',
    './run fast',
    'cd src && pnpm test',
    'pnpm build\npnpm test',
    'pnpm test 2>&1 >/dev/null | cat src/a.ts',
    'pnpm test > logs/out',
    'pnpm test < input',
    'CI=1 NODE_ENV=test pnpm test',
    'if true; then pnpm test; else echo no; fi',
    'for x in a b; do echo "x-$x"; done',
    '(cd src; pnpm test) && { echo ok; }',
    'echo "it\'s $HOME"',
    'echo ~/x --name="$x"',
    'timeout 5 env CI=1 nice pnpm test',
    "cat src/a.ts <<'E'\n$(rm -rf /)\nE",
    "sed -n 1,20p src/a.ts | sed 's/a/b/g'",
    "awk '{ print $1 }' x",
    'node build.js',
    'node --version',
    'set -euo pipefail; pnpm test',
    'export CI=1; [ -f x ] && pnpm test',
    'x=1',
    '',
    '# nothing',
  ])('an allow rule allows %j', (command) => {
    expect(verdict({ allow }, command)).toBe('allow')
  })

  it.each([
    'git status -s',
    'git --no-pager log',
    'git -c core.pager=x log',
    'ls -l -a',
    'ls -la',
    'ls src -l',
    'cat src/../../etc/passwd',
    'cat "src/$x"',
    'cat -n src/a.ts',
    './pnpm test',
    '/tmp/pnpm test',
    'run fast',
    './run/../walk',
    '/tmp/env pnpm test',
    'pnpm test; true x',
    'pnpm test | tee x',
  ])('no allow rule allows %j by accident', (command) => {
    expect(verdict({ allow }, command)).toBe('ask')
  })

  it('judges an argv word by word', () => {
    expect(verdict({ allow }, ['pnpm', 'test; rm -rf /', '$(x)', '>x'])).toBe('allow')
    expect(verdict({ allow }, ['/tmp/pnpm'])).toBe('ask')
    expect(verdict({ allow: [['pnpm', 'run', '*']] }, ['pnpm', 'run', 'x y'])).toBe('allow')
  })

  it('judges an argv of a shell with a command string by that string', () => {
    expect(verdict({ allow }, ['bash', '-lc', 'pnpm test'])).toBe('allow')
    expect(verdict({ allow }, ['/tmp/bash', '-lc', 'pnpm test'])).toBe('ask')
    expect(verdict({ allow, deny: ['bash *'] }, ['bash', '-lc', 'pnpm test'])).toBe('deny')
    expect(verdict({ allow, deny: ['rm *'] }, ['bash', '-lc', 'pnpm test; rm x'])).toBe('deny')
  })

  it.each(['bash', '/bin/sh', ['bash', '-lc'], ['bash', '-euo', 'pipefail', '-c'], ['sh', '-c']])(
    'reads a command string for %j',
    (shell) => {
      expect(verdict({ allow }, 'pnpm test', shell)).toBe('allow')
    },
  )

  it.each(['zsh', 'fish', 'python3', ['node', '-e'], ['bash', '-ic'], ['sudo', 'sh', '-c'], ['bash'], []])(
    'is not enough for a command string for %j',
    (shell) => {
      expect(verdict({ allow: ['*'] }, 'pnpm test', shell)).toBe('ask')
    },
  )
})
