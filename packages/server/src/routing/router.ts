import { readFileSync } from 'node:fs'
import { type CallContext, VitrineError } from '@vitrine/protocol'
import { pathsOf, type Route, type RouteName, routes } from '@vitrine/protocol/http'
import { json } from '../answers/json.ts'
import { patiently } from '../answers/patient.ts'
import { problemAnswer } from '../answers/problem.ts'
import type { Daemon } from '../daemon.ts'
import { Answer } from '../exchange/answer.ts'
import type { Asked } from '../exchange/asked.ts'
import type { Caller } from '../guard/caller.ts'
import { securityHeaders } from '../guard/headers.ts'
import { handlersOf } from '../handlers/handlers.ts'
import { checkQuery, readBody } from './body.ts'
import type { Call } from './call.ts'
import { Paths } from './paths.ts'
import { present } from './present.ts'
import { readQuery } from './query.ts'

type AnyHandler = (call: Call<never, never>) => Promise<unknown>
type Answering = (request: Asked, params: Readonly<Record<string, string>>, caller: Caller) => Promise<Answer>

interface Limits {
  readonly jsonBytes: number
  readonly beatMs: number
}

/** Every route of the table, checked by its schemas and answered by its handler. */
export function createRouter(
  daemon: Daemon,
  limits: Limits,
): (request: Asked, caller: Caller) => Promise<Answer> {
  const handlers = handlersOf(daemon)
  const paths = new Paths<Map<string, Answering>>()
  const methodsOf = (path: string) => paths.at(path, () => new Map<string, Answering>())
  for (const [name, route] of Object.entries<Route>(routes)) {
    // Names and types of handlers follow from those of the routes; here they are all alike.
    const handler = handlers[name as RouteName] as AnyHandler
    const run = answering(daemon, name, route, handler, limits)
    for (const path of pathsOf(route)) methodsOf(path).set(route.method, run)
  }
  methodsOf('/openapi.json').set('GET', async () => text(openApi(), 'application/json'))
  methodsOf('/metrics').set('GET', async () =>
    text(await daemon.metrics.text(daemon.host), 'text/plain; version=0.0.4'),
  )
  return async (request, caller) => {
    const found = paths.find(request.path)
    if (found === undefined)
      return problemAnswer(new VitrineError('route_unknown', 'There is no such route.'))
    const isHead = request.method === 'HEAD'
    const run = found.value.get(isHead ? 'GET' : request.method)
    if (run === undefined) return methodUnknown([...found.value.keys()])
    const answer = await run(request, found.params, caller)
    return isHead ? answer.head() : answer
  }
}

function methodUnknown(allowed: readonly string[]): Answer {
  const error = new VitrineError('method_unknown', `There is only ${allowed.join(', ')} here.`)
  return problemAnswer(error, { allow: allowed.join(', ') })
}

function answering(
  daemon: Daemon,
  name: string,
  route: Route,
  handler: AnyHandler,
  limits: Limits,
): Answering {
  const count = daemon.metrics.counter(name)

  async function handle(
    ...[request, params, caller, calledOff]: [...Parameters<Answering>, AbortSignal?]
  ): Promise<unknown> {
    const query = checkQuery(readQuery(request.search), route)
    const body = route.body === undefined ? undefined : await readBody(request, route, limits.jsonBytes)
    const call = callOf(daemon, { request, params, query, body, caller }) as Call<never, never>
    return handler(calledOff === undefined ? call : until(call, calledOff))
  }

  async function counted(...[request, params, caller]: Parameters<Answering>): Promise<Answer> {
    let answer: Answer
    try {
      if (route.access === 'full' && caller.access !== 'full')
        throw new VitrineError('access_denied', `The token ${caller.name} may only look on.`)
      const id = request.header('vitrine-call')
      const given =
        id === undefined
          ? await handle(request, params, caller)
          : await daemon.calls.run(id, request, caller.name, (calledOff) =>
              handle(request, params, caller, calledOff),
            )
      answer = answerOf(route, given)
    } catch (error) {
      answer = problemAnswer(error)
    }
    count(answer.status)
    return answer
  }

  return (request, params, caller) => {
    const answer = counted(request, params, caller)
    const isPatient = request.header('vitrine-patient') === 'true' && typeof route.answer !== 'string'
    return isPatient ? patiently(answer, limits.beatMs) : answer
  }
}

function callOf(
  daemon: Daemon,
  { request, params, query, body, caller }: Pick<Call, 'request' | 'params' | 'query' | 'body' | 'caller'>,
): Call {
  const { host, defaultSandbox } = daemon
  return {
    request,
    params,
    query,
    body,
    caller,
    get signal() {
      return AbortSignal.any([request.signal, daemon.closing])
    },
    wantsStream: request.header('accept')?.includes('text/event-stream') === true,
    async sandbox() {
      const { sandbox: id = defaultSandbox.id } = params
      const sandbox = id === defaultSandbox.id ? await defaultSandbox.open() : await host.find(id)
      return sandbox.as(contextOf(request, caller))
    },
    async journal() {
      // Looking starts nothing. A journal that nobody wrote to would be remembered for every id that is tried.
      const { sandbox: id = defaultSandbox.id } = params
      const isKnown =
        id === defaultSandbox.id ||
        host.list().some((one) => one.id === id) ||
        (await host.store.journals()).includes(id)
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
function contextOf(request: Asked, caller: Caller): CallContext {
  const named = (name: string) => {
    const value = request.header(name)
    return value === undefined || value === '' ? undefined : decoded(name, value)
  }
  const traceparent = request.header('traceparent') ?? ''
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

function text(content: string, type: string): Answer {
  return new Answer(200, { ...securityHeaders, 'content-type': type }, content)
}

/** Made when the house is built. */
function openApi(): string {
  return readFileSync(new URL('../../openapi.json', import.meta.url), 'utf8')
}

function answerOf({ status = 200 }: Route, given: unknown): Answer {
  if (given instanceof Answer) return given
  return status === 204 || given === undefined ? new Answer(204, securityHeaders, null) : json(status, given)
}
