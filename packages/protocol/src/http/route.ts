import type * as z from 'zod/mini'
import { defineValue, type Made } from '../lazy.ts'

/** A body or response that is not JSON. */
export type Media = 'bytes' | 'event-stream' | 'socket' | 'nothing'

export interface Route {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  /** The path after `/v1`, with parameters in braces. */
  readonly path: string
  /** A sandbox route exists below `/v1/sandboxes/{sandbox}` and, for the default sandbox, directly below `/v1`. */
  readonly scope: 'host' | 'sandbox'
  /** `read` routes also accept tokens with read access. */
  readonly access: 'read' | 'full'
  readonly summary: string
  readonly query?: z.ZodMiniObject
  readonly body?: z.ZodMiniType | 'bytes'
  /** The body's schema in the OpenAPI document, if the handler and not the router validates it. */
  readonly bodyInDocument?: z.ZodMiniType
  /** Whether the body may be omitted. */
  readonly bodyOptional?: true
  readonly status?: 200 | 201 | 202 | 204
  readonly response: z.ZodMiniType | Media
  /** Schemas by status, for a route with several response statuses. */
  readonly responseByStatus?: Readonly<Record<number, z.ZodMiniType>>
  /** Media types of a `bytes` response; default `application/octet-stream`. */
  readonly mediaTypes?: readonly string[]
  /** Whether a `bytes` response supports `Range` requests (206). */
  readonly ranges?: true
  /** Whether the route responds with an event stream to `accept: text/event-stream`. */
  readonly streams?: true
  /** Schemas of the event stream's data by SSE event name; `message` is for frames without a name. */
  readonly frames?: Readonly<Record<string, z.ZodMiniType>>
  /** Schema of the text messages that the daemon sends on a `socket`. */
  readonly socketMessage?: z.ZodMiniType
  /** Schema of the text messages that a client may send on a `socket`. */
  readonly clientMessage?: z.ZodMiniType
}

const madeFields = [
  'query',
  'body',
  'bodyInDocument',
  'response',
  'responseByStatus',
  'frames',
  'socketMessage',
  'clientMessage',
] as const
type MadeField = (typeof madeFields)[number]

/** A route as declared: schemas are functions, called on first access. */
type DeclaredRoute = {
  readonly [Field in keyof Route]: Field extends MadeField
    ? Extract<Route[Field], string | undefined> | (() => Exclude<Route[Field], string | undefined>)
    : Route[Field]
}

/** Turns declared routes into routes with lazily created schemas, and keeps their literal types. */
export function table<const Routes extends Readonly<Record<string, DeclaredRoute>>>(
  routes: Routes,
): { readonly [Name in keyof Routes]: Made<Routes[Name]> } {
  for (const route of Object.values(routes))
    for (const field of madeFields) {
      const make = route[field]
      if (typeof make === 'function')
        Object.defineProperty(route, field, {
          enumerable: true,
          configurable: true,
          get: () => defineValue(route, field, make()),
        })
    }
  return routes as { readonly [Name in keyof Routes]: Made<Routes[Name]> }
}

/** Whether a route opens a WebSocket. Does not read a schema, because reading one creates it. */
export function isSocketRoute(route: Route): boolean {
  return Object.getOwnPropertyDescriptor(route, 'response')?.value === 'socket'
}

/** The paths of a route; a sandbox route has a second one for the default sandbox. */
export function pathsOf({ path, scope }: Pick<Route, 'path' | 'scope'>): string[] {
  return scope === 'host' ? [`/v1${path}`] : [`/v1/sandboxes/{sandbox}${path}`, `/v1${path}`]
}
