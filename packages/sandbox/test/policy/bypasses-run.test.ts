import { existsSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { commandPolicy } from '@vitrine/command-policy'
import { expect, it } from 'vitest'
import { scale } from '../../../../conformance/src/scale.ts'
import type { Bypass } from '../../../command-policy/test/fixtures/bypasses/bypass.ts'
import { bypasses } from '../../../command-policy/test/fixtures/bypasses/index.ts'
import type { LocalSandbox } from '../../src/index.ts'
import { openSandbox } from '../fixtures/sandbox.ts'
import { BypassWorkspaces } from './bypass-workspace.ts'

const shells: readonly (readonly string[])[] = [
  ['dash', '-c'],
  ['bash', '-c'],
  ['zsh', '-c'],
  ['mksh', '-c'],
  ['busybox', 'sh', '-c'],
]

const all = Object.values(bypasses).flat()
const some = all.filter((_, index) => index % scale.bypassStep === 0)
const isWhole = some.length === all.length
const workspaces = new BypassWorkspaces()

/** 625 of 955 ran on a Debian with the system packages of these tests; the others need programs that it lacks. */
const leastThatRun = 600
const atOnce = 6

/** Runs one spelling in the folder. */
async function run(sandbox: LocalSandbox, root: string, bypass: Bypass, shell: readonly string[]) {
  const [env, command] = typeof bypass === 'string' ? [{}, bypass] : bypass
  const inRoot = (text: string) => text.replaceAll('{root}', root)
  const given = Object.fromEntries(Object.entries(env).map(([name, value]) => [name, inRoot(value)]))
  const options = { shell, cwd: root, env: given, timeoutMs: 5_000 }
  const refused = await sandbox.exec(inRoot(command), options).then(
    () => false,
    (error: { readonly code?: string }) => error.code === 'gate_refused',
  )
  return { refused, ran: existsSync(join(root, 'ran')) }
}

it.each(shells)('no way around a deny rule runs the denied program under %s %s', async (...shell) => {
  const policy = commandPolicy({ deny: ['touch *'], otherwise: 'allow' })
  const sandbox = await openSandbox({ isolation: 'bubblewrap' }, { policy })
  const root = workspaces.create(sandbox.root, 'case')
  const passed: Bypass[] = []
  for (const bypass of some) {
    const { ran, refused } = await run(sandbox, root, bypass, shell)
    if (ran || !refused) passed.push(bypass)
    rmSync(join(root, 'ran'), { force: true })
  }
  expect(passed).toEqual([])
})

/** Each of them runs the denied program in every shell; a policy sees it in none of them. */
const hidden = ['x=touch; $x ran', '$(printf %s touch) ran', 'eval "$(printf %s "tou")ch ran"', '. ./t.sh']

it.each(shells)(
  'what is asked about runs the denied program under %s %s once it is approved',
  async (...shell) => {
    const policy = commandPolicy({ deny: ['touch *'], otherwise: 'allow' })
    const onAsk = () => true
    const sandbox = await openSandbox({ isolation: 'bubblewrap' }, { policy, onAsk })
    for (const [index, command] of hidden.entries()) {
      const root = workspaces.create(sandbox.root, `case-${index}`)
      expect(await run(sandbox, root, command, shell), command).toEqual({ refused: false, ran: true })
      expect(await run(sandbox, root, 'touch again', shell), command).toMatchObject({ refused: true })
    }
  },
)

it('without a policy they run it, so the table is about real ones', async () => {
  const sandbox = await openSandbox({ isolation: 'bubblewrap' })
  const unable: Bypass[] = []
  const runsIn = async (shell: string, bypass: Bypass, index: number) => {
    const [env, command] = typeof bypass === 'string' ? [{}, bypass] : bypass
    const root = workspaces.create(sandbox.root, `case-${index}-${shell}`)
    const { ran } = await run(sandbox, root, [{ HOME: '{root}/fresh', ...env }, command], [shell, '-c'])
    rmSync(root, { recursive: true, force: true, maxRetries: 5 })
    return ran
  }
  const check = async (bypass: Bypass, index: number) => {
    if (!(await runsIn('bash', bypass, index)) && !(await runsIn('zsh', bypass, index))) unable.push(bypass)
  }
  // Some of them wait for their time limit, so several run at once.
  for (let at = 0; at < some.length; at += atOnce)
    await Promise.all(some.slice(at, at + atOnce).map((bypass, index) => check(bypass, at + index)))
  const list = unable.map((bypass) => `  ${JSON.stringify(bypass)}\n`).join('')
  if (isWhole) process.stdout.write(`${unable.length} of ${all.length} cannot run here:\n${list}`)
  expect(some.length - unable.length).toBeGreaterThanOrEqual(isWhole ? leastThatRun : some.length / 3)
})
