import { describe, expect, it } from 'vitest'
import { verdict } from './verdicts.ts'

const rules = {
  allow: ['pnpm *', 'cd *', 'echo *', 'cat *', 'curl *', 'git *', 'true', 'xargs *', 'find *'],
  deny: [
    'rm -rf *',
    'sudo *',
    'git push *',
    'chmod -R 777 *',
    '/opt/tool *',
    'curl -o *',
    'terraform -destroy *',
  ],
}

describe('the holes of a peer', () => {
  it('does not let "pnpm *" allow "pnpm test; sudo rm -rf /"', () => {
    expect(verdict({ allow: ['pnpm *'] }, 'pnpm test; sudo rm -rf /')).toBe('ask')
    expect(verdict({ allow: ['pnpm *'], deny: ['sudo *'] }, 'pnpm test; sudo rm -rf /')).toBe('deny')
  })
  it.each(['rm -fr /', 'rm  -rf /', '/bin/rm -rf /', 'cd / && rm -rf x'])(
    'does not let "%s" pass the rule "rm -rf *"',
    (command) => {
      expect(verdict({ deny: ['rm -rf *'], otherwise: 'allow' }, command)).toBe('deny')
    },
  )
})

describe('a rule that denies', () => {
  it.each([
    'rm -r -f /',
    'rm -rfv /',
    'rm -Rf /',
    'rm --recursive --force /',
    'rm --rec --forc /',
    'rm / -r --force',
    'rm -rf -- /',
    '\\rm -rf /',
    "'r'm -rf /",
    'r"m" -r\\f /',
    '/usr/bin/../bin/rm -rf /',
    'RM -rf /',
    'rm -rf "$HOME"',
    'rm -rf $x',
    'rm \\\n -rf /',
    'rm >/dev/null -rf /',
    'X=1 rm -rf /',
    'git -C /x push',
    'git -c a=b --no-pager push origin main',
    'git push',
    'chmod 777 -R /',
    'chmod --recursive 777 /',
    '/opt/tool x',
    '//opt/./tool x',
    'curl -fsSLo x https://example.org',
    'curl --output=x https://example.org',
    'terraform -destroy',
  ])('a deny rule catches %j', (command) => {
    expect(verdict(rules, command)).toBe('deny')
  })

  it.each([
    'true | rm -rf /',
    'true |& rm -rf /',
    'true & rm -rf /',
    'true || rm -rf /',
    'true\nrm -rf /',
    'true # x\nrm -rf /',
    '(rm -rf /)',
    '{ rm -rf /; }',
    '! rm -rf /',
    'if true; then rm -rf /; fi',
    'for x in a; do rm -rf /; done',
    'for x\nin a\ndo rm -rf /; done',
    'while rm -rf /; do true; done',
    'case x in a) true;; (b|c) rm -rf / ;; esac',
    'f() { rm -rf /; }; f',
    'function f { rm -rf /; }',
    'time { rm -rf /; }',
    'time ! rm -rf /',
    'echo $(rm -rf /)',
    'echo "$(rm -rf /)"',
    'echo `rm -rf /`',
    'echo "`rm -rf /`"',
    `echo "\${x:-$(rm -rf /)}"`,
    'echo $((1 + $(rm -rf /)))',
    'echo $( (true) | (rm -rf /) )',
    'cat <(rm -rf /)',
    'cat <<E\n$(rm -rf /)\nE',
    'cat <<E; rm -rf /\nx\nE',
    "cat <<'E'\nx\nE\nrm -rf /",
    'X=$(rm -rf /)',
    'true > $(rm -rf /)',
    '((rm -rf /))',
    'rm -rf /; )',
  ])('a deny rule finds the command anywhere in %j', (command) => {
    expect(verdict(rules, command)).toBe('deny')
  })

  it.each([
    'env rm -rf /',
    'env -i X=1 rm -rf /',
    'env -S "rm -rf" rm -rf /',
    'nohup rm -rf / &',
    'timeout -k 1 5 rm -rf /',
    'timeout --unheard-of 5 rm -rf /',
    'nice -n 5 rm -rf /',
    'nice -5 rm -rf /',
    'time -p rm -rf /',
    'command rm -rf /',
    'exec -a x rm -rf /',
    'builtin command rm -rf /',
    'stdbuf -oL rm -rf /',
    'setsid -f rm -rf /',
    'sudo -u root rm -rf /',
    'doas rm -rf /',
    'busybox rm -rf /',
    'sh -c "rm -rf /"',
    'bash -euo pipefail -c "rm -rf /"',
    "env sh -c 'true; rm -rf /'",
    'sh <<E\nrm -rf /\nE',
    'env bash <<E\nrm -rf /\nE',
    'bash <<< "rm -rf /"',
    'eval rm -rf /',
    "eval 'rm -rf' /",
    "trap 'rm -rf /' EXIT",
    'echo / | xargs rm -rf',
    'echo / | xargs -n 1 -I {} rm -rf {}',
    'find / -exec rm -rf {} +',
    'find / -name x -exec true \\; -exec rm -rf {} \\;',
    "su -c 'rm -rf /'",
    'flock /tmp/x rm -rf /',
  ])('a deny rule finds the nested command in %j', (command) => {
    expect(verdict(rules, command)).toBe('deny')
  })

  it.each([
    'git stash push',
    'git commit -m done',
    'cat rm -rf',
    'echo "rm -rf /"',
    "echo 'sudo x'",
    'pnpm test # rm -rf /',
    'curl https://example.org',
  ])('a deny rule does not match %j', (command) => {
    expect(verdict(rules, command)).toBe('allow')
  })

  it('asks if a deny rule depends on an unknown value', () => {
    const deny = { deny: ['cat /etc/*', '/opt/tool *'], otherwise: 'allow' } as const
    expect(verdict(deny, 'cat "/etc/$x"')).toBe('deny')
    expect(verdict(deny, 'cat "/e$x"')).toBe('ask')
    expect(verdict(deny, 'cat "/usr/$x"')).toBe('allow')
    expect(verdict(deny, 'cat ~/x')).toBe('ask')
    expect(verdict(deny, 'cat /usr/../etc/passwd')).toBe('deny')
    expect(verdict(deny, 'tool x')).toBe('ask')
  })

  it('a deny rule matches the files of output redirections', () => {
    const deny = { allow: ['echo *'], deny: ['* > /etc/*'] }
    expect(verdict(deny, 'echo x > /etc/passwd')).toBe('deny')
    expect(verdict(deny, '> /etc/passwd')).toBe('deny')
    expect(verdict(deny, 'echo x > /tmp/../etc/passwd')).toBe('deny')
    expect(verdict(deny, 'echo x > "$file"')).toBe('ask')
  })

  it('a deny rule finds an operand at any position if their order does not matter', () => {
    expect(verdict({ deny: ['rm -rf /'], otherwise: 'allow' }, 'rm -rf x //')).toBe('deny')
    expect(verdict({ deny: ['rm -rf /'], otherwise: 'allow' }, 'rm -rf /tmp/x')).toBe('allow')
  })

  it('a deny rule matches further arguments without a wildcard', () => {
    expect(verdict({ deny: ['sudo', 'git push'], otherwise: 'allow' }, 'sudo ls')).toBe('deny')
    expect(verdict({ deny: ['sudo', 'git push'], otherwise: 'allow' }, 'git push origin')).toBe('deny')
  })
})
