import { readFileSync } from 'node:fs'
import { type CallContext, VitrineError } from '@vitrine/protocol'
import { pathsOf, type Route, type RouteName, routes } from '@vitrine/protocol/http'
import { Hono } from 'hono'
import { RegExpRouter } from 'hono/router/reg-exp-router'
import { json } from '../answers/json.ts'
import { patiently } from '../answers/patient.ts'
import { problemResponse } from '../answers/problem.ts'
import type { Daemon } from '../daemon.ts'
import type { Caller } from '../guard/caller.ts'
import { securityHeaders } from '../guard/headers.ts'
import { handlersOf } from '../handlers/handlers.ts'
import { checkQuery, readBody } from './body.ts'
import type { Call } from './call.ts'
import { present } from './present.ts'
import { readQuery } from './query.ts'

/** How often a caller that waits for long is told that it is not forgotten. */
const beatMs = 15_000

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
    for (const path of pathsOf(route).map(honoPath)) {
      methods.set(path, [...(methods.get(path) ?? []), route.method])
      app.on(route.method, path, (context) => {
        const request = context.req.raw
        const answer = answerCall(request, context.req.param(), context.env.caller)
        const isPatient =
          request.headers.get('vitrine-patient') === 'true' && typeof route.answer !== 'string'
        return isPatient ? patiently(answer, beatMs) : answer
      })
    }

    async function answerCall(
      request: Request,
      params: Readonly<Record<string, string>>,
      caller: Caller,
    ): Promise<Response> {
      const response = await run(request, params, caller).catch((error: unknown) => problemResponse(error))
      daemon.metrics.answered(name, response.status)
      // Who asks for the head only never reads the body: what it holds open is let go.
      if (request.method === 'HEAD') void response.body?.cancel()
      return response
    }

    async function run(
      request: Request,
      params: Readonly<Record<string, string>>,
      caller: Caller,
    ): Promise<Response> {
      if (route.access === 'full' && caller.access !== 'full')
        throw new VitrineError('access_denied', `The token ${caller.name} may only look on.`)
      const answer = await daemon.calls.run(request.headers, caller.name, async (calledOff) => {
        const call = (await readCall(daemon, route, request, params, caller, limits)) as Call<never, never>
        return handler(calledOff === undefined ? call : until(call, calledOff))
      })
      return answerOf(route, answer)
    }
  }
  for (const [path, allowed] of methods) {
    app.all(path, () => {
      const error = new VitrineError('method_unknown', `There is only ${allowed.join(', ')} here.`)
      return problemResponse(error, { allow: allowed.join(', ') })
    })
  }
  app.get('/openapi.json', () => textResponse(openApi(), 'application/json'))
  app.get('/metrics', async () =>
    textResponse(await daemon.metrics.text(daemon.host), 'text/plain; version=0.0.4'),
  )
  app.notFound(() => problemResponse(new VitrineError('route_unknown', 'There is no such route.')))
  return async (request, caller) => app.fetch(request, { caller })
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
      // Looking starts nothing. A journal that nobody wrote to would be remembered for every id that is tried.
      const isKnown =
        isDefault || host.list().some((one) => one.id === id) || (await host.store.journals()).includes(id)
      if (!isKnown) throw new VitrineError('not_found', `There is no sandbox ${id}.`)
      return host.store.journal(id)
    },
  }
}

/** The same call, which also ends when it is called off. */
function until<C extends Call<never, never>>(call: C, calledOff: AbortSignal): C {
  return { ...call, signal: AbortSignal.any([call.signal, calledOff]) }
}

/** What a call is for, as its headers say; who called, as its token says unless it names somebody. */
function contextOf(headers: Headers, caller: Caller): CallContext {
  const named = (name: string) => {
    const value = headers.get(name)
    return value === null || value === '' ? undefined : decoded(name, value)
  }
  const traceparent = headers.get('traceparent') ?? ''
  return present({
    actor: named('vitrine-actor') ?? caller.name,
    run: named('vitrine-run'),
    session: named('vitrine-session'),
    turn: named('vitrine-turn'),
    // One that is malformed is none: so the W3C has it, and whoever is on the way may have added it.
    traceparent: isTraceparent(traceparent) ? traceparent : undefined,
  })
}

function isTraceparent(text: string): boolean {
  return /^(?!ff)(?!00.{54})[0-9a-f]{2}-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}(?:-|$)/.test(
    text,
  )
}

function decoded(name: string, value: string): string {
  try {
    return decodeURIComponent(value)
  } catch (error) {
    throw new VitrineError('argument_invalid', `${name}: expected UTF-8, percent-encoded.`, { cause: error })
  }
}

function honoPath(path: string): string {
  return path.replaceAll(/\{(\w+)\}/g, ':$1')
}

function textResponse(text: string, type: string): Response {
  return new Response(text, { headers: { ...securityHeaders, 'content-type': type } })
}

/** Made when the house is built. */
function openApi(): string {
  return readFileSync(new URL('../../openapi.json', import.meta.url), 'utf8')
}

function answerOf({ status = 200 }: Route, answer: unknown): Response {
  if (answer instanceof Response) return answer
  if (status === 204 || answer === undefined)
    return new Response(null, { status: 204, headers: securityHeaders })
  return json(status, answer)
}
