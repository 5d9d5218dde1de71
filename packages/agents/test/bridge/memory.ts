import type { AnyMessage } from '@agentclientprotocol/sdk'
import { type Journal, memoryStore, openStore, type Store, type StoreDriver } from '@vitrine/journal'
import type { JournalEvent } from '@vitrine/protocol'
import { onTestFinished } from 'vitest'
import { Bridge, type BridgeOptions } from '../../src/bridge/bridge.ts'
import type { BridgeClientOptions } from '../../src/bridge/bridge-client.ts'
import type { AgentExit, AgentTransport } from '../../src/bridge/transport.ts'

export const ended: AgentExit = { outcome: 'ok', exitCode: 0, signal: null, stderr: { head: '', lines: 0 } }

/** An agent that is this test. */
export class MemoryTransport implements AgentTransport {
  readonly facts = { memory: true }
  readonly #ended = Promise.withResolvers<AgentExit>()
  readonly ended = this.#ended.promise
  readonly gone = this.ended
  /** What it was told. */
  readonly heard: AnyMessage[] = []
  readonly calls: string[] = []
  /** Called for each message before the pipe has taken it. */
  onWrite: (message: AnyMessage) => Promise<void> | void = () => undefined
  #take: ((bytes: Buffer) => void) | undefined

  start(take: (bytes: Buffer) => void): void {
    this.#take = take
  }

  pause(): void {
    this.calls.push('hold')
  }

  resume(): void {
    this.calls.push('release')
  }

  async write(line: string): Promise<void> {
    const message: AnyMessage = JSON.parse(line)
    await this.onWrite(message)
    this.heard.push(message)
  }

  async end(): Promise<void> {
    this.calls.push('end')
    this.exit({ ...ended, outcome: 'cancelled', exitCode: null, signal: 'SIGKILL' })
  }

  exit(exit: AgentExit = ended): void {
    this.#ended.resolve(exit)
  }

  /** Says raw bytes. */
  bytes(bytes: string | Buffer): void {
    this.#take?.(Buffer.from(bytes))
  }

  say(...messages: readonly object[]): void {
    this.bytes(messages.map((message) => `${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`).join(''))
  }

  endChildrenSince(): number {
    return 0
  }

  now(): number {
    return 0
  }
}

/** A store whose commits can be held up, or fail. */
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

export interface Meeting {
  readonly store: Store
  readonly journal: Journal
  readonly agent: MemoryTransport
  readonly bridge: Bridge
  events(...types: string[]): Promise<JournalEvent[]>
}

export async function meet(
  options: Partial<BridgeOptions> = {},
  driver: StoreDriver = memoryStore(),
): Promise<Meeting> {
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

/** Somebody who talks over the bridge. */
export function attend(bridge: Bridge, name: string, options: Partial<BridgeClientOptions> = {}) {
  const party = bridge.attach({
    name,
    handlesRequest: () => false,
    wantsNotification: () => true,
    ...options,
  })
  const reader = party.stream.readable.getReader()
  const writer = party.stream.writable.getWriter()
  writer.closed.catch(() => undefined)
  reader.closed.catch(() => undefined)
  return {
    party,
    /** The next message; an error once the agent is gone. */
    async next(): Promise<AnyMessage | undefined> {
      return (await reader.read()).value
    },
    send: (message: object) => writer.write({ jsonrpc: '2.0', ...message } as AnyMessage),
  }
}
