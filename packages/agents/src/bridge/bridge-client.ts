import type { AnyMessage, AnyResponse } from '@agentclientprotocol/sdk'
import { VitrineError } from '@vitrine/protocol'

/** How many messages may wait for one that does not read. After that it is let go: the journal has the rest. */
const maxWaiting = 10_000

export interface BridgeClientOptions {
  /** Who it is, for the record. */
  readonly name: string
  /** Which of the agent's requests it answers; the first answer of all parties counts. */
  handlesRequest(method: string): boolean
  /** Which notifications it wants. */
  wantsNotification(method: string): boolean
  /** It is never let go: the bridge holds the agent up while too much of what it asked is unanswered. */
  readonly mustNotDrop?: true
  /** Somebody else answered first. */
  onAnsweredByOther?(answer: AnyResponse): void
}

interface Wiring {
  send(message: AnyMessage): Promise<void>
  left(): void
}

/** One of those who talk with an agent over its bridge. Its `stream` is what the protocol's SDK connects to. */
export class BridgeClient {
  readonly name: string
  readonly stream: {
    readonly readable: ReadableStream<AnyMessage>
    readonly writable: WritableStream<AnyMessage>
  }
  readonly #options: BridgeClientOptions
  readonly #wiring: Wiring
  #controller: ReadableStreamDefaultController<AnyMessage> | undefined

  constructor(options: BridgeClientOptions, wiring: Wiring) {
    this.name = options.name
    this.#options = options
    this.#wiring = wiring
    this.stream = {
      readable: new ReadableStream<AnyMessage>({
        start: (controller) => {
          this.#controller = controller
        },
        cancel: () => this.#leave(),
      }),
      writable: new WritableStream<AnyMessage>({ write: (message) => wiring.send(message) }),
    }
  }

  handlesRequest(method: string): boolean {
    return ignoreThrow(() => this.#options.handlesRequest(method)) ?? false
  }

  wantsNotification(method: string): boolean {
    return ignoreThrow(() => this.#options.wantsNotification(method)) ?? false
  }

  onAnsweredByOther(answer: AnyResponse): void {
    ignoreThrow(() => this.#options.onAnsweredByOther?.(answer))
  }

  deliver(message: AnyMessage): void {
    const controller = this.#controller
    if (controller === undefined) return
    controller.enqueue(message)
    if (this.#options.mustNotDrop || (controller.desiredSize ?? 0) > -maxWaiting) return
    const why = `${this.name} left ${maxWaiting} messages of the agent unread.`
    this.end(new VitrineError('view_fell_behind', why))
    this.#leave()
  }

  /** The agent is gone. */
  end(reason: VitrineError): void {
    this.#controller?.error(reason)
    this.#controller = undefined
  }

  /** This party goes; the agent and the others stay. */
  close(): void {
    this.#controller?.close()
    this.#leave()
  }

  #leave(): void {
    this.#controller = undefined
    this.#wiring.left()
  }
}

/** Whoever takes part cannot harm the agent or the others. */
function ignoreThrow<T>(ask: () => T): T | undefined {
  try {
    return ask()
  } catch {
    return undefined
  }
}
