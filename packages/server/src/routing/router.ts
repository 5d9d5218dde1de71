import { type CallContext, VitrineError } from '@vitrine/protocol'
import { type Route, type RouteName, routes } from '@vitrine/protocol/http'
import { Hono } from 'hono'
import { RegExpRouter } from 'hono/router/reg-exp-router'
import { problemResponse } from '../answers/problem.ts'
import type { Daemon } from '../daemon.ts'
import type { Caller } from '../guard/caller.ts'
import { securityHeaders } from '../guard/headers.ts'
import { handlersOf } from '../handlers/handlers.ts'
import { checkQuery, readBody } from './body.ts'
import type { Call } from './call.ts'
import { present } from './present.ts'
import { readQuery } from './query.ts'

interface Env {
  Bindings: { readonly caller: Caller }
}

type AnyHandler = (call: Call<never, never>) => Promise<unknown>

/** Every route of the table, checked by its schemas and answered by its handler. */
export function createRouter(
  daemon: Daemon,
  limits: { readonly jsonBytes: number },
): (request: Request, caller: Caller) => Promise<Response> {
  const handlers = handlersOf(daemon)
  const app = new Hono<Env>({ router: new RegExpRouter() })
  const methods = new Map<string, string[]>()
  for (const [name, route] of Object.entries<Route>(routes)) {
    // Names and types of handlers follow from those of the routes; here they are all alike.
    const handler = handlers[name as RouteName] as AnyHandler
    for (const path of pathsOf(route)) {
      methods.set(path, [...(methods.get(path) ?? []), route.method])
      app.on(route.method, path, async (context) => {
        const { caller } = context.env
        const request = context.req.raw
        try {
          if (route.access === 'full' && caller.access !== 'full')
            throw new VitrineError('access_denied', `The token ${caller.name} may only look on.`)
          const call = await readCall(daemon, route, request, context.req.param(), caller, limits)
          return answerOf(route, await handler(call as Call<never, never>))
        } catch (error) {
          return problemResponse(error)
        }
      })
    }
  }
  for (const [path, allowed] of methods) {
    app.all(path, () => {
      const error = new VitrineError('method_unknown', `There is only ${allowed.join(', ')} here.`)
      return problemResponse(error, { allow: allowed.join(', ') })
    })
  }
  app.notFound(() => problemResponse(new VitrineError('route_unknown', 'There is no such route.')))
  return async (request, caller) => app.fetch(request, { caller })
}

function pathsOf({ path, scope }: Route): string[] {
  const pattern = path.replaceAll(/\{(\w+)\}/g, ':$1')
  return scope === 'host' ? [`/v1${pattern}`] : [`/v1${pattern}`, `/v1/sandboxes/:sandbox${pattern}`]
}

async function readCall(
  daemon: Daemon,
  route: Route,
  request: Request,
  params: Readonly<Record<string, string>>,
  caller: Caller,
  { jsonBytes }: { readonly jsonBytes: number },
): Promise<Call> {
  const query = checkQuery(readQuery(new URL(request.url).search), route)
  const body = await readBody(request, route, jsonBytes)
  const { host, defaultSandbox } = daemon
  const { sandbox: id = defaultSandbox.id } = params
  const isDefault = id === defaultSandbox.id
  return {
    request,
    params,
    query,
    body,
    caller,
    signal: AbortSignal.any([request.signal, daemon.closing]),
    wantsStream: request.headers.get('accept')?.includes('text/event-stream') === true,
    async sandbox() {
      const sandbox = isDefault ? await defaultSandbox.open() : await host.find(id)
      return sandbox.as(contextOf(request.headers, caller))
    },
    async journal() {
      if (isDefault) await defaultSandbox.open()
      // A journal that nobody wrote to would be remembered for every id that is tried.
      const isKnown = host.list().some((one) => one.id === id) || (await host.store.journals()).includes(id)
      if (!isKnown) throw new VitrineError('not_found', `There is no sandbox ${id}.`)
      return host.store.journal(id)
    },
  }
}

/** What a call is for, as its headers say; who called, as its token says unless it names somebody. */
function contextOf(headers: Headers, caller: Caller): CallContext {
  const named = (name: string) => {
    const value = headers.get(name)
    return value === null || value === '' ? undefined : decodeURIComponent(value)
  }
  return present({
    actor: named('vitrine-actor') ?? caller.name,
    run: named('vitrine-run'),
    session: named('vitrine-session'),
    turn: named('vitrine-turn'),
    traceparent: headers.get('traceparent') ?? undefined,
  })
}

function answerOf({ status = 200 }: Route, answer: unknown): Response {
  if (answer instanceof Response) return answer
  if (status === 204 || answer === undefined)
    return new Response(null, { status: 204, headers: securityHeaders })
  return new Response(JSON.stringify(answer), {
    status,
    headers: { ...securityHeaders, 'content-type': 'application/json' },
  })
}
