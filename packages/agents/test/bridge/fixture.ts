import type { AnyMessage } from '@agentclientprotocol/sdk'
import { type Journal, memoryStore, openStore, type Store, type StoreDriver } from '@vitrine/journal'
import type { JournalEvent } from '@vitrine/protocol'
import { onTestFinished } from 'vitest'
import { Bridge, type BridgeOptions } from '../../src/bridge/bridge.ts'
import type { BridgeClientOptions } from '../../src/bridge/bridge-client.ts'
import type { AgentExit, AgentTransport, StderrExcerpt } from '../../src/bridge/transport.ts'

export const cleanExit: AgentExit = {
  outcome: 'ok',
  exitCode: 0,
  signal: null,
  stderr: { head: '', lines: 0 },
}

/** An agent that the test controls. */
export class MemoryTransport implements AgentTransport {
  readonly facts = { memory: true }
  readonly #closed = Promise.withResolvers<AgentExit>()
  readonly closed = this.#closed.promise
  readonly exited = this.closed
  /** Messages to the agent. */
  readonly received: AnyMessage[] = []
  readonly calls: string[] = []
  /** Called for each message before the pipe accepts it. */
  onWrite: (message: AnyMessage) => Promise<void> | void = () => undefined
  #take: ((bytes: Buffer) => void) | undefined

  start(take: (bytes: Buffer) => void): void {
    this.#take = take
  }

  pause(): void {
    this.calls.push('pause')
  }

  resume(): void {
    this.calls.push('resume')
  }

  async write(line: string): Promise<void> {
    const message: AnyMessage = JSON.parse(line)
    await this.onWrite(message)
    this.received.push(message)
  }

  async end(): Promise<void> {
    this.calls.push('end')
    this.exit({ ...cleanExit, outcome: 'cancelled', exitCode: null, signal: 'SIGKILL' })
  }

  exit(exit: AgentExit = cleanExit): void {
    this.#closed.resolve(exit)
  }

  /** Emits raw bytes of output. */
  bytes(bytes: string | Buffer): void {
    this.#take?.(Buffer.from(bytes))
  }

  emit(...messages: readonly object[]): void {
    this.bytes(messages.map((message) => `${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`).join(''))
  }

  stderr(): StderrExcerpt {
    return cleanExit.stderr
  }

  killStartedAfter(): number {
    return 0
  }

  processMark(): number {
    return 0
  }
}

/** A store whose commits can be delayed or fail. */
export function gatedStore(): { readonly driver: StoreDriver; gate: (() => Promise<void>) | undefined } {
  const memory = memoryStore()
  const gated = {
    gate: undefined as (() => Promise<void>) | undefined,
    driver: {
      kind: 'gated',
      async open(options: Parameters<StoreDriver['open']>[0]) {
        const connection = await memory.open(options)
        return new Proxy(connection, {
          get(target, name) {
            const value = Reflect.get(target, name, target)
            if (typeof value !== 'function') return value
            if (name !== 'commit' && name !== 'probe') return value.bind(target)
            return async (...args: unknown[]) => {
              await gated.gate?.()
              return Reflect.apply(value, target, args)
            }
          },
        })
      },
    },
  }
  return gated
}

export interface TestBridge {
  readonly store: Store
  readonly journal: Journal
  readonly agent: MemoryTransport
  readonly bridge: Bridge
  events(...types: string[]): Promise<JournalEvent[]>
}

export async function openBridge(
  options: Partial<BridgeOptions> = {},
  driver: StoreDriver = memoryStore(),
): Promise<TestBridge> {
  const store = await openStore(driver)
  onTestFinished(() => store.close())
  const journal = await store.journal('sbx_test')
  const agent = new MemoryTransport()
  const bridge = await Bridge.open({
    agent: 'memory',
    transport: agent,
    journal,
    interpret: () => ({}),
    ...options,
  })
  return {
    store,
    journal,
    agent,
    bridge,
    async events(...types) {
      await journal.flush()
      const { events } = await journal.read({ limit: 1_000, ...(types.length > 0 && { types }) })
      return events.filter((event): event is JournalEvent => 'seq' in event)
    },
  }
}

/** Attaches a client to the bridge. */
export function attachClient(bridge: Bridge, name: string, options: Partial<BridgeClientOptions> = {}) {
  const client = bridge.attach({
    name,
    handlesRequest: () => false,
    wantsNotification: () => true,
    ...options,
  })
  const reader = client.stream.readable.getReader()
  const writer = client.stream.writable.getWriter()
  writer.closed.catch(() => undefined)
  reader.closed.catch(() => undefined)
  return {
    client,
    /** Returns the next message; rejects once the agent has exited. */
    async next(): Promise<AnyMessage | undefined> {
      return (await reader.read()).value
    },
    send: (message: object) => writer.write({ jsonrpc: '2.0', ...message } as AnyMessage),
  }
}
