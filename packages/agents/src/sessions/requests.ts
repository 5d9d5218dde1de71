import type { JsonRpcId } from '@agentclientprotocol/sdk'
import type { Direction } from '../bridge/bridge.ts'
import { type Envelope, idKey } from '../bridge/envelope.ts'

/** A request under way, in either direction. */
export interface OpenRequest<Owner> {
  readonly method: string
  readonly owner: Owner | undefined
  readonly params: unknown
}

/** Which request an answer belongs to, in both directions: an answer says nothing but its id. */
export class OpenRequests<Owner> {
  readonly #open = { in: new Map<string, OpenRequest<Owner>>(), out: new Map<string, OpenRequest<Owner>>() }

  add(direction: Direction, id: JsonRpcId, request: OpenRequest<Owner>): void {
    this.#open[direction].set(idKey(id), request)
  }

  /** One that is not answered yet. */
  get(direction: Direction, id: JsonRpcId): OpenRequest<Owner> | undefined {
    return this.#open[direction].get(idKey(id))
  }

  /** The request that this is the answer to; it is over with it. */
  answered(envelope: Envelope & { kind: 'response' }, direction: Direction): OpenRequest<Owner> | undefined {
    const asked = this.#open[direction === 'in' ? 'out' : 'in']
    const key = idKey(envelope.id)
    const request = asked.get(key)
    asked.delete(key)
    return request
  }
}
