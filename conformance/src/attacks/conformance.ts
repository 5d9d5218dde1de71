import { afterAll, describe, it } from 'vitest'
import { archiveAttacks } from './archives.ts'
import { commandAttacks } from './commands.ts'
import { daemonAttacks } from './daemon/attacks.ts'
import { fileAttacks } from './files.ts'
import { isolationAttacks } from './isolation.ts'
import type { Attack, AttackDriver } from './kit.ts'
import { runAttack } from './kit.ts'
import { limitAttacks } from './limits.ts'
import { networkAttacks } from './network.ts'
import { outputAttacks } from './output.ts'
import { secretAttacks } from './secrets.ts'
import { type AttackRow, attackTable } from './table.ts'

/** All attacks, by what the attacker aims at. */
export const attacks = {
  isolation: isolationAttacks,
  files: fileAttacks,
  archives: archiveAttacks,
  commands: commandAttacks,
  output: outputAttacks,
  secrets: secretAttacks,
  limits: limitAttacks,
  network: networkAttacks,
  daemon: daemonAttacks,
} satisfies Record<string, readonly Attack[]>

export type AttackAim = keyof typeof attacks

/** The names of all aims. The cast is safe: these are the keys of `attacks`. */
export const attackAims: readonly AttackAim[] = Object.keys(attacks) as AttackAim[]

/**
 * Registers one test per attack on a sandbox and, if there is one, on the daemon that serves it. An attack that does not
 * apply is skipped with the reason. A table of all attacks is printed at the end.
 *
 * @example
 * attackConformance('local', {
 *   make: async ({ limits } = {}) => {
 *     const sandbox = await createSandbox({ provider: local({ limits }) })
 *     return { sandbox, journal: sandbox.journal, close: () => sandbox.close() }
 *   },
 * })
 */
export function attackConformance(
  name: string,
  driver: AttackDriver,
  { aims = attackAims }: { readonly aims?: readonly AttackAim[] } = {},
): void {
  const rows: AttackRow[] = []
  describe(`attacks: ${name}`, () => {
    for (const aim of aims)
      describe(aim, () => {
        for (const attack of attacks[aim])
          it(attack.promise, async ({ skip }) => {
            const row: AttackRow = { aim, promise: attack.promise, verdict: 'NOT HELD' }
            rows.push(row)
            const result = await runAttack(driver, attack)
            row.verdict = result.verdict
            if (result.verdict === 'held') return
            row.reason = result.reason
            skip(`Not applicable: ${result.reason}.`)
          })
      })
    afterAll(() => {
      // biome-ignore lint/suspicious/noConsole: the table is what a run of the kit is for.
      console.log(attackTable(name, rows))
    })
  })
}
