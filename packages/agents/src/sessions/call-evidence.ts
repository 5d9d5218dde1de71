import { setImmediate as nextTick } from 'node:timers/promises'
import type { Journal } from '@vitrine/journal'
import { type FailedConnection, VitrineError } from '@vitrine/protocol'
import type { Bridge } from '../bridge/bridge.ts'
import { formatExcerpt } from '../bridge/stderr-lines.ts'
import { failedConnections, formatConnections } from './failed-connections.ts'

/** Explains the failure of a call: the agent's last stderr lines, and the connections that failed during the call. */
export class CallEvidence {
  readonly #bridge: Bridge
  readonly #journal: Journal
  readonly #start: { readonly seq: number }

  constructor(bridge: Bridge, journal: Journal) {
    this.#bridge = bridge
    this.#journal = journal
    this.#start = journal.head
  }

  async addTo(error: VitrineError): Promise<VitrineError> {
    if (!isOfAgent(error)) return error
    // Its stderr may be read just after its response.
    await nextTick()
    const stderr = error.details.stderr === undefined ? this.#bridge.stderr() : undefined
    const connections = await this.connections()
    const said = stderr !== undefined && stderr.lines > 0
    if (!said && connections.length === 0) return error
    const { code, message, details, cause } = error
    return new VitrineError(
      code,
      `${message}${formatConnections(connections)}${said ? formatExcerpt(stderr) : ''}`,
      {
        cause: cause ?? error,
        details: {
          ...details,
          ...(said && { stderr: { ...stderr } }),
          ...(connections.length > 0 && { connections: connections.map((one) => ({ ...one })) }),
        },
      },
    )
  }

  /** The failed connections of the agent's process; none if they cannot be read. */
  async connections(): Promise<readonly FailedConnection[]> {
    const { process } = this.#bridge.transport.facts
    if (typeof process !== 'string') return []
    return failedConnections(this.#journal, process, this.#start).catch(() => [])
  }
}

/** Whether the agent caused the error: not its caller, nor the store. */
function isOfAgent({ code }: VitrineError): boolean {
  return code.startsWith('agent_') || code === 'credentials_missing'
}
