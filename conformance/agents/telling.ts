import type { HostSandbox } from '@vitrine/host'
import { eventLine } from '@vitrine/views'
import { onTestFailed } from 'vitest'
import { allEvents } from './scene.ts'

const lastEvents = 30
const stderrLines = 60

/** When the test fails: what the agent said on the side, and what happened last. */
export function tellOnFailure(sandbox: () => HostSandbox | undefined): void {
  onTestFailed(async () => {
    const there = sandbox()
    if (there !== undefined) console.error(await tellAbout(there))
  })
}

async function tellAbout(sandbox: HostSandbox): Promise<string> {
  const events = await allEvents(sandbox)
  const last = events.slice(-lastEvents).map((event) => eventLine(event, { width: 400 }))
  const parts = [...(await stderrOf(sandbox)), `The last ${last.length} events:`, ...last]
  return parts.join('\n')
}

async function stderrOf(sandbox: HostSandbox): Promise<string[]> {
  const told: string[] = []
  for (const { id, owner, pid, state } of await sandbox.processes.list().catch(() => [])) {
    if (owner === undefined) continue
    const chunks = await sandbox.processes.logs(id, { tail: stderrLines }).catch(() => [])
    const text = chunks.map(({ data }) => new TextDecoder().decode(data)).join('')
    told.push(
      `The ${state} process ${pid ?? ''} of ${owner} said on the side:`,
      text.trimEnd() || '(nothing)',
    )
  }
  return told
}
