import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Host, local, type OpenHostOptions, openHost } from '../src/index.ts'
import { loginPath, loginValue, restartRows, sandboxOf } from './fixtures/restart-rows.ts'

const script = fileURLToPath(new URL('./fixtures/restart-host.ts', import.meta.url))
const flags = ['--conditions=source', '--disable-warning=ExperimentalWarning']

interface Restart {
  readonly name: string
  readonly end: 'close' | 'kill'
  readonly options?: OpenHostOptions
  readonly withoutBubblewrap?: true
}

/** Defaults that are weaker in everything than what the sandboxes have. */
const weaker = local({
  isolation: 'none',
  network: 'host',
  user: 'root',
  limits: { processes: 100, outputBytes: 1_000_000, memoryBytes: false, pids: false, tmpBytes: false },
  grants: [{ path: '/etc', writable: true }],
})

const restarts: readonly Restart[] = [
  { name: 'close and open', end: 'close' },
  { name: 'kill -9', end: 'kill' },
  { name: 'other flags', end: 'kill', options: { providers: [weaker] } },
  { name: 'bubblewrap missing', end: 'kill', withoutBubblewrap: true },
]

/** Writes the login of an agent into the HOME of the host. */
function writeLogin(home: string): void {
  mkdirSync(join(home, dirname(loginPath)), { recursive: true, mode: 0o700 })
  writeFileSync(join(home, loginPath), JSON.stringify({ accessToken: loginValue }), { mode: 0o600 })
}

describe.each(restarts)('after $name', ({ end, options, withoutBubblewrap }) => {
  const path = process.env.PATH ?? ''
  const data = mkdtempSync('/var/tmp/vitrine-matrix-')
  const programs = mkdtempSync('/var/tmp/vitrine-programs-')
  const home = mkdtempSync('/var/tmp/vitrine-login-')
  let host: Host

  beforeAll(async () => {
    chmodSync(data, 0o711)
    chmodSync(programs, 0o755)
    writeLogin(home)
    const child = spawn(process.execPath, [...flags, script, data], {
      stdio: ['pipe', 'pipe', 'inherit'],
      env: { ...process.env, HOME: home },
    })
    const exited = once(child, 'exit')
    await Promise.race([once(child.stdout, 'data'), exited])
    if (end === 'kill') child.kill('SIGKILL')
    else child.stdin.end()
    expect(await exited).toEqual(end === 'kill' ? [null, 'SIGKILL'] : [0, null])
    for (const name of ['sh', 'cat', 'touch', 'id', 'sleep', 'true', 'tail', 'cut'])
      symlinkSync(join('/usr/bin', name), join(programs, name))
    if (withoutBubblewrap) process.env.PATH = programs
    host = await openHost({ data, install: 'never', ...options })
  }, 120_000)

  afterAll(async () => {
    await host.close()
    process.env.PATH = path
    for (const folder of [data, programs, home]) rmSync(folder, { recursive: true, force: true })
  })

  it.each(restartRows)('$name is restored or refused, and not weakened', async (row) => {
    if (row.root && process.getuid?.() !== 0) return
    const id = sandboxOf(row)
    const info = (await host.list()).find((one) => one.id === id)
    expect(info).toMatchObject({ state: 'stopped', labels: row.create.labels ?? {} })
    const refused = row.refused ?? (withoutBubblewrap ? row.refusedWithoutBubblewrap : undefined)
    if (refused === undefined) {
      const { expected, expectedAfterClose = expected } = row
      const measured = await row.measure(await host.attach(id, row.attach))
      expect(measured).toEqual(end === 'close' ? expectedAfterClose : expected)
      return
    }
    await expect(host.attach(id, row.attach)).rejects.toMatchObject({ code: refused })
    // A daemon calls `find` for every request.
    await expect(host.find(id)).rejects.toMatchObject({ code: refused })
    expect((await host.list()).find((one) => one.id === id)).toMatchObject({ state: 'stopped' })
  })

  it.runIf(withoutBubblewrap)('an isolated sandbox starts without isolation if it is told so', async () => {
    const sandbox = await host.attach('isolation', { isolation: 'none' })
    expect(sandbox.capabilities.isolation).toBe('none')
    const { events } = await sandbox.journal.read({ types: ['operation.started'] })
    expect(events.map(({ data }) => data)).toContainEqual({ op: 'attach', isolation: 'none' })
    await sandbox.close()
    expect((await host.attach('isolation')).capabilities.isolation).toBe('none')
  })
})
