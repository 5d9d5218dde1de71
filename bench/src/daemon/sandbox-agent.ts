import { chmodSync } from 'node:fs'
import { join } from 'node:path'
import { peersFolder } from '../peers/install.ts'
import type { Row } from '../report.ts'
import { freePort, responds, type ServerProcess, startServerProcess } from './server-process.ts'

export const sandboxAgentName = 'sandbox-agent 0.4.2'

/** The command that starts sandbox-agent with its data in the folder. */
export async function sandboxAgentCommand(folder: string, port: number) {
  const program = join(await peersFolder(), 'node_modules/@sandbox-agent/cli-linux-x64/bin/sandbox-agent')
  // Its install script would do this, but peers are installed without scripts.
  chmodSync(program, 0o755)
  return {
    command: [program, 'server', '--port', String(port), '--no-token', '--no-telemetry'],
    env: { ...process.env, HOME: folder },
  }
}

/** Starts sandbox-agent in a separate process, or returns the reason why it cannot run. */
export async function startSandboxAgent(
  folder: string,
): Promise<ServerProcess | { readonly missing: string }> {
  try {
    const port = await freePort()
    const { command, env } = await sandboxAgentCommand(folder, port)
    return await startServerProcess(command, { port, env, isReady: () => responds(port) })
  } catch (error) {
    return missing(error)
  }
}

export function missing(error: unknown): { readonly missing: string } {
  const reason = error instanceof Error ? error.message : String(error)
  return { missing: `${sandboxAgentName} is not available: ${reason.split('\n')[0]}` }
}

/** The row of something measured for comparison only, so it has no bar. */
export function comparisonRow(what: string, against: string): Row {
  return { what, measured: '', against, bar: '', holds: null }
}
