import { readFileSync } from 'node:fs'
import { isVitrineError, VitrineError } from '@vitrine/protocol'
import {
  isSocketRoute,
  pathsOf,
  type Route,
  type RouteName,
  type Routes,
  routes,
} from '@vitrine/protocol/http'
import { cancelled, shown } from '@vitrine/protocol/primitives'
import type { Daemon } from '../daemon/daemon.ts'
import type { Caller } from '../guard/caller.ts'
import { securityHeaders } from '../guard/headers.ts'
import type { HttpRequest } from '../http/http-request.ts'
import { HttpResponse } from '../http/http-response.ts'
import { jsonResponse } from '../responses/json.ts'
import { withKeepAlive } from '../responses/keep-alive-body.ts'
import { problemResponse } from '../responses/problem.ts'
import { checkQuery, readBody } from './body.ts'
import type { Call, HandlersOf, RequestContext } from './call.ts'
import { contextOf } from './call-context.ts'
import { callTarget } from './call-target.ts'
import { checkAccess } from './check-access.ts'
import { readQuery } from './query.ts'
import { RouteTrie } from './route-trie.ts'

type AnyHandler = (call: Call<never, never>) => Promise<unknown>
type RouteHandler = (context: RequestContext) => Promise<HttpResponse>

interface RouterLimits {
  readonly jsonBytes: number
  readonly keepAliveMs: number
  /** How long the reader of a response with keep-alive may take for one part. */
  readonly stallMs: number
}

/** Routes requests: validates them by the route's schemas and calls the route's handler. */
export function createRouter(
  daemon: Daemon,
  handlers: HandlersOf<Routes>,
  limits: RouterLimits,
): (request: HttpRequest, caller: Caller) => Promise<HttpResponse> {
  const paths = new RouteTrie<Map<string, RouteHandler>>()
  const methodsOf = (path: string) => paths.at(path, () => new Map<string, RouteHandler>())
  for (const [name, route] of Object.entries<Route>(routes)) {
    // `HandlersOf` has checked names and types; the cast erases the differences between the handlers.
    const handler = isSocketRoute(route) ? refusePlain : (handlers[name as RouteName] as AnyHandler)
    const run = routeHandler(daemon, name, route, handler, limits)
    for (const path of pathsOf(route)) methodsOf(path).set(route.method, run)
  }
  methodsOf('/openapi.json').set('GET', async () => text(openApi(), 'application/json'))
  methodsOf('/metrics').set('GET', async () =>
    text(await daemon.metrics.text(daemon.host), 'text/plain; version=0.0.4'),
  )
  const refuse = (error: VitrineError, headers?: Readonly<Record<string, string>>) =>
    problemResponse(daemon.problemOf(error), headers)
  return async (request, caller) => {
    const match = paths.find(request.path)
    if (match === undefined)
      return refuse(new VitrineError('route_unknown', `There is no route ${shown(request.path)}.`))
    const isHead = request.method === 'HEAD'
    const run = match.value.get(isHead ? 'GET' : request.method)
    if (run === undefined) {
      const allow = [...match.value.keys()].join(', ')
      return refuse(new VitrineError('method_unknown', `The route supports ${allow} only.`), { allow })
    }
    const response = await run({ request, params: match.params, caller })
    return isHead ? response.head() : response
  }
}

function routeHandler(
  daemon: Daemon,
  name: string,
  route: Route,
  handler: AnyHandler,
  limits: RouterLimits,
): RouteHandler {
  const count = daemon.metrics.counter(name)

  async function handle(context: RequestContext): Promise<unknown> {
    const { request } = context
    const query = checkQuery(readQuery(request.search), route)
    const body = route.body === undefined ? undefined : await readBody(request, route, limits.jsonBytes)
    return handler(callOf(daemon, context, { query, body }) as Call<never, never>)
  }

  async function handleAndCount(context: RequestContext): Promise<HttpResponse> {
    const { request, caller } = context
    let response: HttpResponse
    try {
      checkAccess(route, caller)
      const id = request.header('vitrine-call')
      const result =
        id === undefined
          ? await handle(context)
          : await daemon.calls.run(id, request, caller.name, (signal) =>
              handle({ ...context, cancelled: signal }).catch((error: unknown) => {
                // The reason of an aborted signal is not an error of the daemon.
                throw signal.aborted && !isVitrineError(error) ? cancelled(signal) : error
              }),
            )
      response = responseOf(route, result)
    } catch (error) {
      response = problemResponse(daemon.problemOf(error))
    }
    count(response.status)
    return response
  }

  return (context) => {
    const response = handleAndCount(context)
    const { request } = context
    // Read here and not in `routeHandler`: reading creates the lazy schema, which would slow down the start.
    if (request.header('vitrine-keepalive') !== 'true' || typeof route.response === 'string') return response
    // A stream has its own heartbeats.
    return route.streams && wantsStream(request)
      ? response
      : withKeepAlive(response, limits.keepAliveMs, limits.stallMs)
  }
}

async function refusePlain(): Promise<never> {
  throw new VitrineError(
    'argument_invalid',
    'Expected a WebSocket upgrade on this route, got a plain request.',
  )
}

function callOf(
  daemon: Daemon,
  { request, params, caller, cancelled }: RequestContext,
  { query, body }: Pick<Call, 'query' | 'body'>,
): Call {
  const context = () => contextOf((name) => request.header(name), caller)
  let signal: AbortSignal | undefined
  return {
    request,
    params,
    query,
    body,
    caller,
    context,
    // Created on demand: most handlers do not need it, and it costs time.
    signal() {
      signal ??= AbortSignal.any([request.signal, daemon.closing, ...(cancelled ? [cancelled] : [])])
      return signal
    },
    wantsStream: wantsStream(request),
    ...callTarget(daemon, params, context, caller, startingOf(request)),
  }
}

/** The calls of the client's `Sandbox` say that they use the sandbox; any other GET only looks. */
function startingOf(request: HttpRequest): 'on-use' | 'never' {
  const looks = request.method === 'GET' || request.method === 'HEAD'
  return looks && request.header('vitrine-start') !== 'true' ? 'never' : 'on-use'
}

function wantsStream(request: HttpRequest): boolean {
  return request.header('accept')?.includes('text/event-stream') === true
}

function text(content: string, type: string): HttpResponse {
  return new HttpResponse(200, { ...securityHeaders, 'content-type': type }, content)
}

/** Generated at build time. */
function openApi(): string {
  return readFileSync(new URL('../../openapi.json', import.meta.url), 'utf8')
}

function responseOf({ status = 200 }: Route, given: unknown): HttpResponse {
  if (given instanceof HttpResponse) return given
  return status === 204 || given === undefined
    ? new HttpResponse(204, securityHeaders, null)
    : jsonResponse(status, given)
}
