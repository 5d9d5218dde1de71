import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { openHost } from '@vitrine/host'
import { expect } from 'vitest'
import { type ModelServer, startModelServer } from '../../packages/agents/test/model/server.ts'
import { eventually } from '../src/waiting/within.ts'
import { agentCache, modelKey } from './environment.ts'
import type { ExpectedBehaviour } from './expected.ts'
import { type AgentIsolation, replyTo } from './fixture.ts'
import { type ProcessIdentity, processesOf, stillRunning } from './process-table.ts'
import { reportOnFailure } from './report-failure.ts'
import { expectRestored } from './restored.ts'

const script = fileURLToPath(new URL('./killed-host.ts', import.meta.url))

/** The data and model of a host that was killed after the first turn of a session. */
export interface KilledHost {
  readonly data: string
  readonly sandbox: string
  readonly model: ModelServer
  remove(): Promise<void>
}

/** Runs one turn with an agent under a host in a separate process, then kills the host. */
export async function promptUnderKilledHost(
  { agent, mode }: ExpectedBehaviour,
  isolation: AgentIsolation,
): Promise<KilledHost> {
  const data = mkdtempSync(`/var/tmp/vitrine-${agent}-`)
  chmodSync(data, 0o711)
  const model = await startModelServer()
  const remove = async () => {
    rmSync(data, { recursive: true, force: true })
    await model.close()
  }
  const flags = ['--conditions=source', '--disable-warning=ExperimentalWarning']
  const args = [data, isolation, agent, model.url, ...(mode === undefined ? [] : [mode])]
  const host = spawn(process.execPath, [...flags, script, ...args], { stdio: ['ignore', 'pipe', 'inherit'] })
  const exited = once(host, 'exit')
  try {
    const ended = exited.then(([code]) => Promise.reject(new Error(`The host ended with ${code}.`)))
    ended.catch(() => undefined)
    const [output] = await Promise.race([once(host.stdout, 'data'), ended])
    const sandbox = String(output).trim()
    expect(processesOf(sandbox).length).toBeGreaterThan(0)
    return { data, sandbox, model, remove }
  } catch (error) {
    await remove()
    throw error
  } finally {
    host.kill('SIGKILL')
    await exited
  }
}

/** Resumes the session under another host with the same data directory. `since` is when the agent's conversation started. */
export async function expectResumed(
  expected: ExpectedBehaviour,
  killed: KilledHost,
  since?: number,
): Promise<void> {
  const { data, sandbox: id, model } = killed
  const seen: ProcessIdentity[] = []
  const host = await openHost({ data, agentCache, install: 'never' })
  try {
    const sandbox = await host.attach(id)
    reportOnFailure(() => sandbox)
    const before = Date.now()
    const modelEndpoint = { url: model.url, key: modelKey }
    const session = await sandbox.sessions.resume('talk', { modelEndpoint })
    const prompt = `say:raisin-${session.info.turns}`
    expect(await replyTo({ sandbox, session }, prompt)).toContain('I say raisin-')
    seen.push(...processesOf(id))
    expect(seen.length).toBeGreaterThan(0)
    const facts = { before, prompt, remembers: 'pomegranate', model, session, ...(since && { since }) }
    await expectRestored({ sandbox, expected }, facts)
    expect(JSON.stringify(await session.transcript())).toContain('I say pomegranate.')
  } finally {
    await host.close()
  }
  await eventually('no process of the sandbox', () => processesOf(id).length === 0)
  expect(stillRunning(seen)).toEqual([])
}
