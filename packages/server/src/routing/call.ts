import type { HostSandbox } from '@vitrine/host'
import type { Journal } from '@vitrine/journal'
import type { JsonObject, JsonValue } from '@vitrine/protocol'
import type { Route } from '@vitrine/protocol/http'
import type * as z from 'zod/mini'
import type { Caller } from '../guard/caller.ts'
import type { HttpRequest } from '../http/http-request.ts'
import type { HttpResponse } from '../http/http-response.ts'
import type { JsonResponse } from '../responses/json.ts'

/** One request on its way to a handler. */
export interface RequestContext {
  readonly request: HttpRequest
  readonly params: Readonly<Record<string, string>>
  readonly caller: Caller
  /** Of a call with an id: aborted when the call is cancelled by it. */
  readonly cancelled?: AbortSignal
}

/** One request, checked: what a handler works with. */
export interface Call<Query = unknown, Body = unknown, Params = Readonly<Record<string, string>>> {
  readonly request: HttpRequest
  readonly params: Params
  readonly query: Query
  readonly body: Body
  readonly caller: Caller
  /** Aborted when the caller is gone or cancels the call by its id, or when the daemon is closing. */
  signal(): AbortSignal
  /** The caller accepts `text/event-stream`. */
  readonly wantsStream: boolean
  /** The sandbox of the path, or the default one; its operations carry who called, and what for. */
  sandbox(): Promise<HostSandbox>
  /** Its journal, which may be read when the sandbox does not run, and when it is gone. */
  journal(): Promise<Journal>
}

type QueryOf<R extends Route> = R['query'] extends z.ZodMiniType ? z.output<R['query']> : unknown
type BodyOf<R extends Route> = R['body'] extends z.ZodMiniType
  ? R['bodyOptional'] extends true
    ? z.output<R['body']> | undefined
    : z.output<R['body']>
  : R['body'] extends 'bytes'
    ? ReadableStream<Uint8Array> | null
    : unknown

/** The names in braces of a path: `'/processes/{process}/logs'` gives `'process'`. */
type ParamNames<Path extends string> = Path extends `${string}{${infer Name}}${infer Rest}`
  ? Name | ParamNames<Rest>
  : never

/** The parameters of a route's path. A sandbox route has no `sandbox` where its short path was requested. */
export type ParamsOf<R extends Pick<Route, 'path' | 'scope'>> = {
  readonly [Name in ParamNames<R['path']>]: string
} & (R['scope'] extends 'sandbox' ? { readonly sandbox?: string } : unknown)

export type CallOf<R extends Route> = Call<QueryOf<R>, BodyOf<R>, ParamsOf<R>>

/**
 * The value as a handler may give it: readonly, and where the schema leaves an object open any object, because an
 * interface has no index signature.
 */
type Serializable<T> = [JsonValue] extends [T]
  ? T
  : T extends object
    ? [T, JsonObject] extends [JsonObject, T]
      ? object
      : { readonly [Key in keyof T]: Serializable<T[Key]> }
    : T

/** The JSON that a route's response schema accepts. */
export type JsonOf<R extends Route> = R['response'] extends z.ZodMiniType
  ? Serializable<z.input<R['response']>>
  : never

/** A handler gives JSON as its route's schema describes it, a response for other media, or nothing. */
export type Handler<R extends Route> = (call: CallOf<R>) => ResultOf<R>

type ResultOf<R extends Route> = R['response'] extends z.ZodMiniType
  ? Promise<JsonOf<R> | JsonResponse<JsonOf<R>> | (R['streams'] extends true ? HttpResponse : never)>
  : R['response'] extends 'nothing'
    ? Promise<void>
    : Promise<HttpResponse>

export type HandlersOf<Routes extends Readonly<Record<string, Route>>> = {
  readonly [Name in keyof Routes]: Handler<Routes[Name]>
}
