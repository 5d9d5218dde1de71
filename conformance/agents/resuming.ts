import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { openHost } from '@vitrine/host'
import { expect } from 'vitest'
import type { ModelServer } from '../../packages/agents/test/model/server.ts'
import { eventually } from '../src/waiting/within.ts'
import type { Expected } from './expected.ts'
import { processesOf, stillThere } from './process-table.ts'
import { expectRestored } from './restored.ts'
import { type Isolation, said } from './scene.ts'
import { agentCache, modelKey } from './setting.ts'
import { tellOnFailure } from './telling.ts'

const script = fileURLToPath(new URL('./doomed-host.ts', import.meta.url))

/** What a host left that was killed after the first turn of a session. */
export interface Remains {
  readonly data: string
  readonly sandbox: string
  remove(): void
}

/** A host in a process of its own that talks with an agent, and is killed. */
export async function killedHost(
  { agent, mode }: Expected,
  isolation: Isolation,
  model: ModelServer,
): Promise<Remains> {
  const data = mkdtempSync(`/var/tmp/vitrine-${agent}-`)
  chmodSync(data, 0o711)
  const remove = () => rmSync(data, { recursive: true, force: true })
  const flags = ['--conditions=source', '--disable-warning=ExperimentalWarning']
  const words = [data, isolation, agent, model.url, ...(mode === undefined ? [] : [mode])]
  const host = spawn(process.execPath, [...flags, script, ...words], { stdio: ['ignore', 'pipe', 'inherit'] })
  const exited = once(host, 'exit')
  try {
    const told = once(host.stdout, 'data').then(([bytes]) => String(bytes).trim())
    const sandbox = await Promise.race([told, exited.then(([code]) => { throw new Error(`The host ended with ${code}.`) })])
    const left = processesOf(sandbox)
    expect(left.length).toBeGreaterThan(0)
    host.kill('SIGKILL')
    await exited
    return { data, sandbox, remove }
  } catch (error) {
    host.kill('SIGKILL')
    remove()
    throw error
  }
}

/** Another host on the same data directory goes on with the session. */
export async function expectResumed(expected: Expected, remains: Remains, model: ModelServer): Promise<void> {
  const { data, sandbox: id } = remains
  const host = await openHost({ data, agentCache, install: 'never' })
  const all = []
  try {
    const sandbox = await host.attach(id)
    tellOnFailure(() => sandbox)
    const before = Date.now()
    const session = await sandbox.sessions.resume('talk', {
      modelEndpoint: { url: model.url, key: modelKey },
    })
    expect(await said({ sandbox, session }, 'say:raisin')).toContain('I say raisin.')
    const facts = { before, prompt: 'say:raisin', knows: 'pomegranate', model, session }
    await expectRestored({ sandbox, expected }, facts)
    expect(JSON.stringify(await session.transcript())).toContain('I say pomegranate.')
    all.push(...processesOf(id))
    expect(all.length).toBeGreaterThan(0)
  } finally {
    await host.close()
  }
  await eventually('no process of the sandbox', () => processesOf(id).length === 0 && stillThere(all).length === 0)
}
