import { isDeepStrictEqual } from 'node:util'
import { pathsOf, problem, type Route, routes } from '@vitrine/protocol/http'
import type * as z from 'zod/mini'

/** The method and URL of a request, which identify its route. */
export interface Requested {
  readonly method: string
  /** Without its query. */
  readonly path: string
}

/** The daemon sent something that its contract does not say. */
export class ContractError extends Error {
  override readonly name = 'ContractError'
}

const patterns = Object.values<Route>(routes).flatMap((route) =>
  pathsOf(route).map((path) => ({
    route,
    pattern: new RegExp(`^${path.replaceAll(/\{\w+\}/g, '[^/]+')}$`),
    // `/v1/sandboxes/{sandbox}` also looks like a path below it: what is written out comes first.
    open: path.split('{').length,
  })),
)
patterns.sort((one, other) => one.open - other.open)

export function routeOf({ method, path }: Requested): Route | undefined {
  const wanted = method === 'HEAD' ? 'GET' : method
  return patterns.find(({ route, pattern }) => route.method === wanted && pattern.test(path))?.route
}

/** Throws unless a response has a status and a media type that its route has; HEAD and problems included. */
export function checkHead(requested: Requested, status: number, type: string | undefined): void {
  const route = routeOf(requested)
  const fail = (expected: string) => {
    const got = `${status} ${type ?? 'without content'}`
    return new ContractError(`${nameOf(requested)}: expected ${expected}, got ${got}.`)
  }
  if (status >= 400) {
    if (type !== 'application/problem+json') throw fail('a problem')
    return
  }
  if (route === undefined) throw fail('no success where there is no route')
  const statuses = statusesOf(route)
  if (!statuses.includes(status)) throw fail(`status ${statuses.join(' or ')}`)
  const types = typesOf(route)
  if (type !== undefined ? !types.includes(type) : types.length > 0)
    throw fail(types.join(' or ') || 'no content')
}

function statusesOf({ status = 200, responseByStatus, response, ranges, frames }: Route): number[] {
  if (responseByStatus !== undefined) return Object.keys(responseByStatus).map(Number)
  return [response === 'socket' ? 101 : status, ...(ranges ? [206] : []), ...(frames ? [200] : [])]
}

function typesOf({ response, frames, mediaTypes = ['application/octet-stream'] }: Route): readonly string[] {
  if (response === 'bytes') return mediaTypes
  const json = typeof response === 'string' ? [] : ['application/json']
  return [...json, ...(frames ? ['text/event-stream'] : [])]
}

/** Throws unless the JSON of a response is what the schema of its route says, and nothing more. */
export function checkJson(requested: Requested, status: number, value: unknown): void {
  const what = `${nameOf(requested)} responded with ${status}`
  const route = routeOf(requested)
  const schema = status >= 400 ? problem() : (route?.responseByStatus?.[status] ?? route?.response)
  if (schema === undefined || typeof schema === 'string')
    throw new ContractError(`${what} with JSON, and its route has none.`)
  checkValue(what, schema, value)
}

/** The same of a response that began before its outcome was known: it has status 200 also for a problem. */
export function checkLateJson(requested: Requested, status: number, value: unknown): void {
  if (isProblem(value)) checkValue(`${nameOf(requested)} ended`, problem(), value)
  else checkJson(requested, status, value)
}

/** Throws unless the route's stream has frames of that name, and with that data. */
export function checkFrame(requested: Requested, event: string, value: unknown): void {
  const what = `${nameOf(requested)} sent a frame "${event}"`
  const schema = routeOf(requested)?.frames?.[event]
  if (schema === undefined) throw new ContractError(`${what}, and its route has none.`)
  checkValue(what, schema, value)
}

/** Throws unless a text message of a terminal's WebSocket is one that its route has. */
export function checkSocketMessage(value: unknown): void {
  checkValue('A terminal sent a message', routes.openTerminal.socketMessage, value)
}

function checkValue(what: string, schema: z.ZodMiniType, value: unknown): void {
  const parsed = schema.safeParse(value)
  if (!parsed.success) {
    const [issue] = parsed.error.issues
    const path = issue?.path.map(String).join('.')
    throw new ContractError(
      `${what}, which its schema refuses at "${path}": ${JSON.stringify(issue)} in ${JSON.stringify(value)?.slice(0, 500)}`,
    )
  }
  // Parsing keeps the fields that the schema names: what is lost was sent and is nowhere documented.
  const lost = lostField(value, parsed.data, [])
  if (lost !== undefined) throw new ContractError(`${what} with "${lost}", which its schema does not name.`)
}

function lostField(sent: unknown, kept: unknown, path: readonly string[]): string | undefined {
  if (isDeepStrictEqual(sent, kept)) return undefined
  if (typeof sent !== 'object' || sent === null || typeof kept !== 'object' || kept === null)
    return path.join('.')
  for (const [key, value] of Object.entries(sent)) {
    if (!Object.hasOwn(kept, key)) return [...path, key].join('.')
    const inner = lostField(value, Reflect.get(kept, key), [...path, key])
    if (inner !== undefined) return inner
  }
  return undefined
}

function isProblem(value: unknown): boolean {
  return (
    typeof value === 'object' &&
    value !== null &&
    'type' in value &&
    String(value.type).startsWith('urn:vitrine:error:')
  )
}

function nameOf({ method, path }: Requested): string {
  return `${method} ${path}`
}
