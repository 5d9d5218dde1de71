import type { JsonObject, JsonValue } from '@vitrine/protocol'

/** The JSON-RPC error codes of responses that are sent without the protocol library. */
export const rpcErrors = { parse: -32700, invalidRequest: -32600, internal: -32603, refused: -32000 } as const

export function rpcError(id: string | number | null, code: number, message: string): JsonObject {
  return { jsonrpc: '2.0', id, error: { code, message } }
}

export function isJsonObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
