import { spawnSync } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'

export const stubNames = ['aa', 'bb', 'cc']

/** Reported in one write, on a descriptor that the shells in these tests do not use. */
const stub = `#!/bin/sh
printf '%s\\002' "$0" "$@" \x01 >&3
`

/** Stub programs that report their argv, in the only folder of the PATH. */
export class StubPrograms implements Disposable {
  readonly #folder = mkdtempSync(join(tmpdir(), 'vitrine-policy-'))
  readonly #work = join(this.#folder, 'work')
  readonly #path = join(this.#folder, 'path')

  constructor() {
    mkdirSync(this.#path)
    for (const name of stubNames) {
      writeFileSync(join(this.#path, name), stub)
      chmodSync(join(this.#path, name), 0o755)
    }
  }

  /** The argv of each call when a shell ran the script, including background commands. */
  run(shell: string, script: string): string[][] {
    mkdirSync(this.#work)
    const { output } = spawnSync(shell, ['-c', script], {
      cwd: this.#work,
      env: { PATH: this.#path, HOME: this.#work },
      stdio: ['ignore', 'ignore', 'ignore', 'pipe'],
      timeout: 10_000,
    })
    rmSync(this.#work, { recursive: true, force: true })
    const calls = String(output?.[3] ?? '')
      .split('\x01\x02')
      .slice(0, -1)
    return calls.map((call) => {
      const [program = '', ...args] = call.split('\x02').slice(0, -1)
      return [basename(program), ...args]
    })
  }

  [Symbol.dispose](): void {
    rmSync(this.#folder, { recursive: true, force: true })
  }
}
