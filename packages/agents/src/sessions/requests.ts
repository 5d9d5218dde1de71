import type { JsonRpcId } from '@agentclientprotocol/sdk'
import type { Direction } from '../bridge/bridge.ts'
import { idKey, type RpcEnvelope } from '../bridge/rpc-envelope.ts'

/** A request without a response, in either direction. */
export interface OpenRequest<Owner> {
  readonly method: string
  readonly owner: Owner | undefined
  readonly params: unknown
}

/** Finds the request of a response, in both directions: a response has only its id. */
export class OpenRequests<Owner> {
  readonly #open = { in: new Map<string, OpenRequest<Owner>>(), out: new Map<string, OpenRequest<Owner>>() }

  add(direction: Direction, id: JsonRpcId, request: OpenRequest<Owner>): void {
    this.#open[direction].set(idKey(id), request)
  }

  /** The open request with this id. */
  get(direction: Direction, id: JsonRpcId): OpenRequest<Owner> | undefined {
    return this.#open[direction].get(idKey(id))
  }

  /** Removes and returns the request of a response. */
  take(envelope: RpcEnvelope & { kind: 'response' }, direction: Direction): OpenRequest<Owner> | undefined {
    const requests = this.#open[direction === 'in' ? 'out' : 'in']
    const key = idKey(envelope.id)
    const request = requests.get(key)
    requests.delete(key)
    return request
  }
}
