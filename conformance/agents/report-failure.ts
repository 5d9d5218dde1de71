import type { HostSandbox } from '@vitrine/host'
import { eventLine } from '@vitrine/views'
import { onTestFailed } from 'vitest'
import { allEvents } from './fixture.ts'

const lastEvents = 30
const stderrLines = 60

/** If the test fails, prints the agent's stderr and the last events. */
export function reportOnFailure(sandbox: () => HostSandbox | undefined): void {
  onTestFailed(async () => {
    const opened = sandbox()
    if (opened !== undefined) console.error(await failureReport(opened))
  })
}

async function failureReport(sandbox: HostSandbox): Promise<string> {
  const events = await allEvents(sandbox)
  const last = events.slice(-lastEvents).map((event) => eventLine(event, { width: 400 }))
  const parts = [...(await stderrOf(sandbox)), `The last ${last.length} events:`, ...last]
  return parts.join('\n')
}

async function stderrOf(sandbox: HostSandbox): Promise<string[]> {
  const lines: string[] = []
  for (const { id, owner, pid, state } of await sandbox.processes.list().catch(() => [])) {
    if (owner === undefined) continue
    const chunks = await sandbox.processes.logs(id, { tail: stderrLines }).catch(() => [])
    const text = chunks.map(({ data }) => new TextDecoder().decode(data)).join('')
    lines.push(`stderr of the ${state} process ${pid ?? ''} of ${owner}:`, text.trimEnd() || '(empty)')
  }
  return lines
}
