import { expect } from 'vitest'
import { outputOf } from '../sandbox/files/content.ts'
import type { TestedSandbox } from '../sandbox/kit.ts'

/** A folder outside the workspace, in the HOME of the sandbox, with content that no attack may read or change. */
export interface Canary {
  /** The absolute path of the folder. It contains `f` and `sub/f`. */
  readonly path: string
  readonly content: string
  /** The canary from the workspace, as a relative path. */
  readonly relative: string
  /** Fails if anything in the folder was created, changed or removed. */
  expectUnchanged(): Promise<void>
}

export async function plantCanary(sandbox: TestedSandbox): Promise<Canary> {
  const content = `canary-${Math.random().toString(36).slice(2)}`
  const made = await outputOf(
    sandbox,
    `mkdir -p ~/canary/sub && cd ~/canary && printf ${content} > f && printf ${content} > sub/f && pwd -P`,
  )
  const state = () =>
    outputOf(sandbox, `cd ${made} && find . -printf '%p %y %m %s %l %T@\\n' | sort; cat f sub/f`)
  const before = await state()
  return {
    path: made,
    content,
    relative: `${'../'.repeat(30)}${made.slice(1)}`,
    async expectUnchanged() {
      expect(await state()).toBe(before)
    },
  }
}

/**
 * Exchanges the folder `name` of the workspace with a link until the file `stop` exists, and then writes the number of
 * exchanges into the file `swaps`. An exchange is atomic: no call finds nothing there and creates a folder, which would
 * end the swapping. 276 and 316 are the numbers of `renameat2` on arm64 and x64.
 */
const swapping =
  'my ($d, $t) = @ARGV; my $n = 0; my $nr = qx(uname -m) =~ /aarch64/ ? 276 : 316; my ($a, $b) = ("$d\\0", "$d.link\\0"); symlink $t, "$d.link"; while (!-e "stop") { $n++ if syscall($nr, -100, $a, -100, $b, 2) == 0; select undef, undef, undef, 0.0005 } open my $f, ">", "swaps"; print $f $n'

/** A call on the folder that is swapped. A result that is text must not be the content of the canary. */
export type RacedCall = (round: number) => Promise<unknown>

export interface Race {
  /** The folder of the workspace that is swapped for a link to the canary. */
  readonly folder: string
  readonly canary: Canary
  readonly calls: readonly RacedCall[]
  /** How many calls must find the folder, and how many must be refused because they find the link. */
  readonly each: number
}

const raceMs = 40_000

/** Makes calls while their folder is swapped for a link to the canary. Fails if a call leads there, or if no race happened. */
export async function race(sandbox: TestedSandbox, options: Race): Promise<void> {
  const until = performance.now() + raceMs
  // With more swaps than calls, calls were overtaken while they ran. On a busy machine this takes several attempts.
  for (let race = await raceOnce(sandbox, options, until); race.swaps <= race.calls; ) {
    if (performance.now() > until)
      throw new Error(`The race did not happen: ${race.swaps} swaps during ${race.calls} calls.`)
    race = await raceOnce(sandbox, options, until)
  }
  await options.canary.expectUnchanged()
}

async function raceOnce(
  sandbox: TestedSandbox,
  { folder, canary, calls, each }: Race,
  until: number,
): Promise<{ readonly calls: number; readonly swaps: number }> {
  const swapper = await sandbox.spawn(['perl', '-e', swapping, folder, canary.path])
  const seen = { inside: 0, outside: 0 }
  let round = 0
  for (; Math.min(seen.inside, seen.outside) < each; round += 1) {
    if (performance.now() > until)
      throw new Error(`The race did not happen: ${seen.inside} calls inside, ${seen.outside} refused.`)
    try {
      expect(String(await calls[round % calls.length]!(round))).not.toContain(canary.content)
      seen.inside += 1
    } catch (error) {
      const code = String((error as { code?: unknown }).code)
      if (code === 'path_outside' || code === 'archive_refused') seen.outside += 1
      else if (!/^(file_|directory_|link_loop)/.test(code)) throw error
    }
  }
  await sandbox.exec('touch stop')
  await swapper.exit
  return { calls: round, swaps: Number(await outputOf(sandbox, 'cat swaps; rm stop')) }
}
