import type { JsonObject, JsonValue } from '@vitrine/protocol'

export type RpcId = string | number

/** A message of a client, with the fields that a server needs. */
export type RpcMessage =
  | { readonly kind: 'request'; readonly id: RpcId; readonly method: string; readonly params: JsonObject }
  | { readonly kind: 'notification'; readonly method: string; readonly params: JsonObject }
  | { readonly kind: 'response' }
  | { readonly kind: 'invalid'; readonly id: RpcId | null; readonly why: string }

export const rpcErrors = {
  parse: -32700,
  invalidRequest: -32600,
  methodNotFound: -32601,
  invalidParams: -32602,
  internal: -32603,
  refused: -32000,
} as const

export function readMessage(value: JsonValue): RpcMessage {
  if (!isJsonObject(value)) return invalid(null, 'expected an object')
  const { jsonrpc, id, method, params = {} } = value
  const known = typeof id === 'string' || typeof id === 'number' ? id : null
  if (jsonrpc !== '2.0') return invalid(known, 'expected jsonrpc: "2.0"')
  if (method === undefined && ('result' in value || 'error' in value)) return { kind: 'response' }
  if (typeof method !== 'string') return invalid(known, 'expected a method')
  if (!isJsonObject(params)) return invalid(known, 'expected params to be an object')
  if (id === undefined) return { kind: 'notification', method, params }
  if (known === null) return invalid(null, 'expected an id that is a string or a number')
  return { kind: 'request', id: known, method, params }
}

function invalid(id: RpcId | null, why: string): RpcMessage {
  return { kind: 'invalid', id, why: `Invalid request: ${why}.` }
}

export function rpcResult(id: RpcId, result: JsonObject): JsonObject {
  return { jsonrpc: '2.0', id, result }
}

export function rpcError(id: RpcId | null, code: number, message: string): JsonObject {
  return { jsonrpc: '2.0', id, error: { code, message } }
}

export function isJsonObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
