import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'

const values: Readonly<Record<string, readonly [string, string]>> = {
  NODE_OPTIONS: ['', '--trace-a'],
  GIT_SSH_COMMAND: ['ssh', ' -i a'],
  RSYNC_RSH: ['ssh', ' -o BatchMode=a'],
  GIT_PAGER: ['less', ' -FRX'],
  LESS: ['', '-'],
  MAKEFLAGS: ['', '-j'],
  PATH: ['', '/'],
  GIT_CONFIG_KEY_0: ['', 'core.'],
  GIT_CONFIG_VALUE_0: ['', 'a '],
  SHELL: ['/bin/', 'sh'],
}

/** Judges in another process, since nothing in this one could interrupt a regular expression. */
const script = `
import { commandPolicy } from '${new URL('../src/command-policy.ts', import.meta.url)}'
import { judge } from '${new URL('../src/judge.ts', import.meta.url)}'
const policy = commandPolicy({ deny: ['touch *'], otherwise: 'allow' })
const [values, times] = JSON.parse(process.argv[1])
for (const [name, [start, piece]] of Object.entries(values)) {
  const value = start + piece.repeat(times) + '!'
  console.log(name, judge(policy, 'echo hi', { env: { [name]: value } }).verdict)
}
judge(policy, ['1'.repeat(times) + '!'])
`

it.each([40, 4_000])(
  'judges variables of %i repetitions to the end',
  async (times) => {
    const flags = ['--conditions=source', '--disable-warning=ExperimentalWarning', '--input-type=module']
    const argv = [...flags, '-e', script, JSON.stringify([values, times])]
    const child = await promisify(execFile)(process.execPath, argv, {
      timeout: 50_000,
      killSignal: 'SIGKILL',
    })
    expect(child.stdout.trim().split('\n')).toEqual(Object.keys(values).map((name) => `${name} ask`))
  },
  60_000,
)
