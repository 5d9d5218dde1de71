import type * as z from 'zod/mini'

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
  /** Of a body that may be left out. */
  readonly bodyOptional?: true
  readonly status?: 200 | 201 | 202 | 204
  readonly answer: z.ZodMiniType | Media
  /** What it gives instead to who accepts `text/event-stream`. */
  readonly streams?: true
}

/** Keeps the literal types of a table of routes. */
export function table<const Routes extends Readonly<Record<string, Route>>>(routes: Routes): Routes {
  return routes
}

/** Where a route is: one of a sandbox for any sandbox, and short for the default one. */
export function pathsOf({ path, scope }: Pick<Route, 'path' | 'scope'>): string[] {
  return scope === 'host' ? [`/v1${path}`] : [`/v1/sandboxes/{sandbox}${path}`, `/v1${path}`]
}
