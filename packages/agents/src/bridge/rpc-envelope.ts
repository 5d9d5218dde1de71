import type {
  AnyMessage,
  AnyNotification,
  AnyRequest,
  AnyResponse,
  JsonRpcId,
} from '@agentclientprotocol/sdk'

/** A JSON-RPC message with its kind. */
export type RpcEnvelope =
  | {
      readonly kind: 'request'
      readonly message: AnyRequest
      readonly method: string
      readonly id: JsonRpcId
    }
  | { readonly kind: 'notification'; readonly message: AnyNotification; readonly method: string }
  | { readonly kind: 'response'; readonly message: AnyResponse; readonly id: JsonRpcId }

/** Parses a line of the agent's output as a JSON-RPC message, or says why it is none. */
export function readRpcEnvelope(
  line: string,
): RpcEnvelope | { readonly kind: 'garbage'; readonly reason: string } {
  // Reject anything that is not an object before parsing it, however long it is.
  if (!/^\s*\{/.test(line)) return { kind: 'garbage', reason: 'not a JSON-RPC message' }
  let value: unknown
  try {
    value = JSON.parse(line)
  } catch {
    return { kind: 'garbage', reason: 'not JSON' }
  }
  return rpcEnvelopeOf(value) ?? { kind: 'garbage', reason: 'not a JSON-RPC message' }
}

export function rpcEnvelopeOf(value: unknown): RpcEnvelope | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined
  const { id, method } = value as { id?: unknown; method?: unknown }
  if (id !== undefined && !isId(id)) return undefined
  // The only cast of wire data: the lines above and below check its members.
  const message = value as AnyMessage
  if (typeof method === 'string') {
    if (id === undefined) return { kind: 'notification', message: message as AnyNotification, method }
    return { kind: 'request', message: message as AnyRequest, method, id }
  }
  if (id === undefined || !('result' in value || 'error' in value)) return undefined
  return { kind: 'response', message: message as AnyResponse, id }
}

function isId(id: unknown): id is JsonRpcId {
  return id === null || typeof id === 'string' || typeof id === 'number'
}

/** A map key for a request id: the ids 1 and "1" differ. */
export function idKey(id: JsonRpcId): string {
  return typeof id === 'string' ? `s${id}` : `n${String(id)}`
}

export function errorResponse(id: JsonRpcId, code: number, message: string): AnyResponse {
  return { jsonrpc: '2.0', id, error: { code, message } }
}

export const methodNotFound = -32_601
export const invalidRequest = -32_600
