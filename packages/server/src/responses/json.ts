import { securityHeaders } from '../guard/headers.ts'
import { HttpResponse } from '../http/http-response.ts'

export const jsonHeaders = { ...securityHeaders, 'content-type': 'application/json' }

declare const shape: unique symbol

/** A response whose body is `T` as JSON. `T` exists at compile time only. */
export interface JsonResponse<T> extends HttpResponse {
  readonly [shape]: T
}

export function jsonResponse<T>(status: number, value: T): JsonResponse<T> {
  return encodedJsonResponse<T>(status, JSON.stringify(value))
}

/** For JSON that is stored as text and sent unchanged: the caller states its type. */
export function encodedJsonResponse<T>(status: number, text: string): JsonResponse<T> {
  return new HttpResponse(status, jsonHeaders, text) as JsonResponse<T>
}
