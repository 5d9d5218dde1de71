import { expect } from 'vitest'
import { outputOf } from '../sandbox/files/content.ts'
import type { TestedSandbox } from '../sandbox/kit.ts'
import { attempt } from '../waiting/attempt.ts'
import type { Attack, AttackedOptions } from './kit.ts'

/** Everything is allowed but one command, which leaves a file behind if it runs. */
const denied = { deny: ['touch *'], otherwise: 'allow' } as const
const mark = 'ran'

/** Ways to write the denied command, and ways to hide it that must be asked about. Nothing answers, so both are refused. */
const spellings: readonly string[] = [
  `touch ${mark}`,
  `/usr/bin/touch ${mark}`,
  `\\touch ${mark}`,
  `t'ouc'h ${mark}`,
  `"touch" ${mark}`,
  `env touch ${mark}`,
  `env -S 'touch ${mark}'`,
  `timeout 5 touch ${mark}`,
  `nice nohup setsid touch ${mark}`,
  `sh -c 'touch ${mark}'`,
  `bash -c "sh -c 'touch ${mark}'"`,
  `eval touch ${mark}`,
  `command touch ${mark}`,
  `exec touch ${mark}`,
  `echo $(touch ${mark})`,
  `echo \`touch ${mark}\``,
  `echo ${mark} | xargs touch`,
  `find . -maxdepth 0 -exec touch ${mark} ';'`,
  `true && touch ${mark}`,
  `false || touch ${mark}`,
  `touch ${mark} &`,
  `(touch ${mark})`,
  `{ touch ${mark}; }`,
  `if true; then touch ${mark}; fi`,
  `f() { touch ${mark}; }; f`,
  `trap 'touch ${mark}' EXIT`,
  `x=touch; $x ${mark}`,
  `$(echo touch) ${mark}`,
  `printf 'touch ${mark}' | sh`,
  `cat << E | sh\ntouch ${mark}\nE`,
  `perl -e 'system("touch ${mark}")'`,
  `awk 'BEGIN { system("touch ${mark}") }'`,
  `git -c alias.x='!touch ${mark}' x`,
  `echo "$(`,
  `touch ${mark} "`,
]

/** Programs that run another program which their arguments name. */
const carriers: readonly string[] = [
  `prlimit --nproc=100 touch ${mark}`,
  `prlimit --pid $$ --nofile=100 touch ${mark}`,
  `setarch -R touch ${mark}`,
  `linux64 touch ${mark}`,
  `/lib64/ld-linux-x86-64.so.2 /usr/bin/touch ${mark}`,
  `npx touch ${mark}`,
  `npx -c 'touch ${mark}'`,
  `npm exec -- touch ${mark}`,
  `make -s --eval 'x:; touch ${mark}' x`,
  `make -s --eval '$(shell touch ${mark})'`,
  `tar -cf /dev/null --checkpoint=1 --checkpoint-action=exec='touch ${mark}' /etc/hostname`,
  `tar -xf a.tar --to-command='touch ${mark}'`,
  `tar -cf a.tar -I 'touch ${mark}' /etc/hostname`,
  `ssh -oProxyCommand='touch ${mark}' nowhere`,
  `ssh -o ProxyCommand='touch ${mark}' nowhere`,
  `rsync -e 'touch ${mark}' nowhere:x .`,
  `git config alias.x '!touch ${mark}'; git x`,
  `git -c core.hooksPath=hooks commit -m x`,
  `git -c core.fsmonitor='touch ${mark}' status`,
  `git grep -O'touch ${mark}' x`,
  `cp /usr/bin/touch t && ./t ${mark}`,
]

/** Variables that change what a command means. */
const variables: readonly (readonly [name: string, value: string])[] = [
  ['BASH_ENV', './evil'],
  ['ENV', './evil'],
  ['BASH_FUNC_echo%%', `() { touch ${mark}; }`],
  ['LD_PRELOAD', './evil.so'],
  ['LD_LIBRARY_PATH', '.'],
  ['LD_AUDIT', './evil.so'],
  ['GIT_EXTERNAL_DIFF', './evil'],
  ['GIT_SSH_COMMAND', './evil'],
  ['GIT_CONFIG_PARAMETERS', `'alias.status=!./evil'`],
  ['GIT_PAGER', './evil'],
  ['PAGER', './evil'],
  ['EDITOR', './evil'],
  ['NODE_OPTIONS', '--require ./evil.js'],
  ['PYTHONSTARTUP', './evil.py'],
  ['PERL5OPT', '-Mevil'],
  ['RUBYOPT', '-r./evil'],
  ['SHELLOPTS', 'xtrace'],
  ['PS4', `$(touch ${mark})`],
]

async function expectRefused(start: () => Promise<unknown>, what: string): Promise<void> {
  await expect(attempt(start), what).rejects.toMatchObject({ code: 'gate_refused' })
}

/** Fails if the denied command left its file behind. */
async function expectNotRun(sandbox: TestedSandbox): Promise<void> {
  expect(await outputOf(sandbox, `test -e ${mark} && echo it ran; true`)).toBe('')
}

/** The aim: to run a command that the policy denies. A policy is a guard rail: it stops accidents, not attackers inside. */
export const commandAttacks: readonly Attack[] = [
  {
    promise: 'a denied command is not run in any spelling',
    async run(target) {
      const { sandbox } = await target.sandbox({ policy: denied })
      for (const command of spellings) await expectRefused(() => sandbox.exec(command), command)
      await expectRefused(() => sandbox.exec(['touch', mark]), 'an array')
      await expectRefused(() => sandbox.exec(['/usr/bin/env', 'touch', mark]), 'an array with a wrapper')
      await expectNotRun(sandbox)
    },
  },
  {
    promise: 'a policy judges every way to start a command',
    async run(target) {
      const { sandbox } = await target.sandbox({ policy: denied })
      const command = `touch ${mark}`
      const child = sandbox.as({ run: 'run_attack', session: 'ses_child', actor: 'another' })
      const ways: Readonly<Record<string, () => Promise<unknown>>> = {
        exec: () => sandbox.exec(command),
        spawn: () => sandbox.spawn(command),
        'spawn with restarts': () => sandbox.spawn(command, { restart: 'always' }),
        'a terminal': () => sandbox.spawn(command, { tty: { cols: 80, rows: 24 } }),
        'another shell': () => sandbox.exec(command, { shell: ['bash', '-c'] }),
        'a shell with another prefix': () => sandbox.exec(command, { shell: ['bash', '-xc'] }),
        'a handle of a child session': () => child.exec(command),
        'a process of a child session': () => child.spawn(command),
        'a command on stdin': () => sandbox.exec('sh', { stdin: command }),
      }
      for (const [way, start] of Object.entries(ways)) await expectRefused(start, way)
      await expectNotRun(sandbox)
    },
  },
  {
    promise: 'a policy that cannot be read makes no sandbox',
    async run(target) {
      const unreadable: readonly string[] = [
        '{"deny":"touch *"}',
        '{"otherwise":"sometimes"}',
        '{"deny":[""]}',
        '{"deny":[7]}',
        '{"denied":["touch *"]}',
      ]
      for (const text of unreadable) {
        const policy: AttackedOptions['policy'] = JSON.parse(text)
        await expect(
          attempt(() => target.sandbox({ ...(policy && { policy }) })),
          text,
        ).rejects.toMatchObject({ code: 'argument_invalid' })
      }
    },
  },
  {
    promise: 'a policy still holds after a restart',
    async run(target) {
      const { sandbox } = await target.sandbox({ policy: denied })
      await sandbox.lifecycle.shutdown()
      await sandbox.lifecycle.start()
      await expectRefused(() => sandbox.exec(`touch ${mark}`), 'after a restart')
      await expectNotRun(sandbox)
    },
  },
  {
    promise: 'a denied command is not run by a program that runs others',
    async run(target) {
      const { sandbox } = await target.sandbox({ policy: denied })
      for (const command of carriers) await expectRefused(() => sandbox.exec(command), command)
      await expectNotRun(sandbox)
    },
  },
  {
    promise: 'a variable of a call is judged as if it were written in the command',
    async run(target) {
      const policy = { allow: ['echo *', 'git status', 'git diff'], otherwise: 'deny' } as const
      const { sandbox } = await target.sandbox({ policy })
      for (const [name, value] of variables) {
        for (const shell of ['sh', 'bash'])
          await expectRefused(() => sandbox.exec('echo fine', { shell, env: { [name]: value } }), name)
        await expectRefused(() => sandbox.spawn('git status', { env: { [name]: value } }), `${name} in spawn`)
      }
      expect(await sandbox.exec('echo fine', { env: { HARMLESS: 'value' } })).toMatchObject({ exitCode: 0 })
    },
  },
  {
    promise:
      'a program is found with the PATH of the call, so that a workspace cannot replace an allowed one',
    async run(target) {
      const { sandbox } = await target.sandbox({ policy: { allow: ['git status'], otherwise: 'deny' } })
      const program = { mode: 0o755, parents: true }
      await sandbox.files.write('bin/git', `#!/bin/sh\ntouch ${sandbox.root}/${mark}\n`, program)
      const { root } = sandbox
      const paths = [
        `${root}/bin:/usr/bin:/bin`,
        './bin:/usr/bin:/bin',
        'bin',
        `:${root}/bin`,
        `/usr/../${root}/bin`,
      ]
      for (const PATH of paths) {
        await expectRefused(() => sandbox.exec('git status', { env: { PATH } }), PATH)
        await expectRefused(() => sandbox.exec(['git', 'status'], { env: { PATH } }), `${PATH}, an array`)
      }
      expect(await sandbox.files.exists(mark)).toBe(false)
    },
  },
]
