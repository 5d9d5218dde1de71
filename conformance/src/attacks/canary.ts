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

/** A command that swaps the folder `name` of the workspace for a link until the file `stop` exists. */
export function swapping(name: string, target: string): string {
  const perl = `while (!-e "stop") { rename $ARGV[0], "$ARGV[0].real"; symlink $ARGV[1], $ARGV[0]; select undef, undef, undef, 0.0005; unlink $ARGV[0]; rename "$ARGV[0].real", $ARGV[0]; select undef, undef, undef, 0.0005 }`
  const shell = `while [ ! -e stop ]; do mv ${name} ${name}.real; ln -s ${target} ${name}; rm ${name}; mv ${name}.real ${name}; done`
  return `if command -v perl > /dev/null; then exec perl -e '${perl}' ${name} ${target}; fi; ${shell}`
}
