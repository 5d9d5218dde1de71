import type { AnyMessage, AnyResponse } from '@agentclientprotocol/sdk'
import { VitrineError } from '@vitrine/protocol'
import { notifyOne, type ObserverErrors } from '@vitrine/protocol/primitives'

/** Unread messages after which a client is disconnected. It can read the rest from the journal. */
const maxUnread = 10_000

export interface BridgeClientOptions {
  /** Identifies the client in log messages. */
  readonly name: string
  /** Whether the client responds to this request method of the agent; the first response of any client wins. */
  handlesRequest(method: string): boolean
  /** Whether the client wants notifications of this method. */
  wantsNotification(method: string): boolean
  /** Never disconnect this client for unread messages; the bridge pauses the agent when too many of its requests are open. */
  readonly mustNotDrop?: true
  /** Called when another client responded first. */
  onAnsweredByOther?(response: AnyResponse): void
}

interface BridgeLink {
  readonly observerErrors: ObserverErrors
  send(message: AnyMessage): Promise<void>
  onClosed(): void
}

/** One client of an agent on its bridge. The ACP SDK connects to its `stream`. */
export class BridgeClient {
  readonly name: string
  readonly stream: {
    readonly readable: ReadableStream<AnyMessage>
    readonly writable: WritableStream<AnyMessage>
  }
  readonly #options: BridgeClientOptions
  readonly #link: BridgeLink
  #controller: ReadableStreamDefaultController<AnyMessage> | undefined

  constructor(options: BridgeClientOptions, link: BridgeLink) {
    this.name = options.name
    this.#options = options
    this.#link = link
    this.stream = {
      readable: new ReadableStream<AnyMessage>({
        start: (controller) => {
          this.#controller = controller
        },
        cancel: () => this.#detach(),
      }),
      writable: new WritableStream<AnyMessage>({ write: (message) => link.send(message) }),
    }
  }

  handlesRequest(method: string): boolean {
    return ignoreThrow(() => this.#options.handlesRequest(method)) ?? false
  }

  wantsNotification(method: string): boolean {
    return ignoreThrow(() => this.#options.wantsNotification(method)) ?? false
  }

  onAnsweredByOther(response: AnyResponse): void {
    const listener = (given: AnyResponse) => this.#options.onAnsweredByOther?.(given)
    void notifyOne(listener, response, (error) =>
      this.#link.observerErrors.report('onAnsweredByOther', error),
    )
  }

  deliver(message: AnyMessage): void {
    const controller = this.#controller
    if (controller === undefined) return
    controller.enqueue(message)
    if (this.#options.mustNotDrop || (controller.desiredSize ?? 0) > -maxUnread) return
    const why = `The bridge client ${this.name} left ${maxUnread} messages of the agent unread and was disconnected.`
    this.end(new VitrineError('reader_fell_behind', why))
    this.#detach()
  }

  /** Fails the readable side, because the agent has exited or this client fell behind. */
  end(reason: VitrineError): void {
    this.#controller?.error(reason)
    this.#controller = undefined
  }

  /** Detaches this client; the agent and the other clients continue. */
  close(): void {
    this.#controller?.close()
    this.#detach()
  }

  #detach(): void {
    this.#controller = undefined
    this.#link.onClosed()
  }
}

/** A callback that throws must not affect the agent or the other clients. */
function ignoreThrow<T>(callback: () => T): T | undefined {
  try {
    return callback()
  } catch {
    return undefined
  }
}
