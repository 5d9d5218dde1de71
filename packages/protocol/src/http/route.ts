import type * as z from 'zod/mini'
import { keep, type Made } from '../lazy.ts'

/** What a route takes or gives that is not JSON. */
export type Media = 'bytes' | 'event-stream' | 'socket' | 'nothing'

export interface Route {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  /** Behind `/v1`, with parameters in braces. */
  readonly path: string
  /** A route of a sandbox is there twice: below `/v1/sandboxes/{sandbox}`, and short for the default sandbox. */
  readonly scope: 'host' | 'sandbox'
  /** `read` is also for those who may only look on. */
  readonly access: 'read' | 'full'
  readonly summary: string
  readonly query?: z.ZodMiniObject
  readonly body?: z.ZodMiniType | 'bytes'
  /** The body in the document, where it is checked by whoever it is passed on to, with errors of its own. */
  readonly bodyInDocument?: z.ZodMiniType
  /** Of a body that may be left out. */
  readonly bodyOptional?: true
  readonly status?: 200 | 201 | 202 | 204
  readonly response: z.ZodMiniType | Media
  /** The schema by status, of a route that answers with more than one. */
  readonly responseByStatus?: Readonly<Record<number, z.ZodMiniType>>
  /** Of bytes; `application/octet-stream` by default. */
  readonly mediaTypes?: readonly string[]
  /** Of bytes: a `Range` is answered with 206. */
  readonly ranges?: true
  /** What it gives instead to who accepts `text/event-stream`. */
  readonly streams?: true
  /** What is in the frames of its stream, by the name of their event; `message` are those without a name. */
  readonly frames?: Readonly<Record<string, z.ZodMiniType>>
  /** A text message that the daemon sends on its WebSocket. */
  readonly socketMessage?: z.ZodMiniType
}

const madeFields = [
  'query',
  'body',
  'bodyInDocument',
  'response',
  'responseByStatus',
  'frames',
  'socketMessage',
] as const
type MadeField = (typeof madeFields)[number]

/** A route as it is written down: schemas are made when somebody asks for them. */
type Written = {
  readonly [Field in keyof Route]: Field extends MadeField
    ? Extract<Route[Field], string | undefined> | (() => Exclude<Route[Field], string | undefined>)
    : Route[Field]
}

/** Keeps the literal types of a table of routes. */
export function table<const Routes extends Readonly<Record<string, Written>>>(
  routes: Routes,
): { readonly [Name in keyof Routes]: Made<Routes[Name]> } {
  for (const route of Object.values(routes))
    for (const field of madeFields) {
      const make = route[field]
      if (typeof make === 'function')
        Object.defineProperty(route, field, {
          enumerable: true,
          configurable: true,
          get: () => keep(route, field, make()),
        })
    }
  return routes as { readonly [Name in keyof Routes]: Made<Routes[Name]> }
}

/** Where a route is: one of a sandbox for any sandbox, and short for the default one. */
export function pathsOf({ path, scope }: Pick<Route, 'path' | 'scope'>): string[] {
  return scope === 'host' ? [`/v1${path}`] : [`/v1/sandboxes/{sandbox}${path}`, `/v1${path}`]
}
