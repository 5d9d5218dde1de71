import type { HostLook, HostSandbox } from '@vitrine/host'
import type { Journal } from '@vitrine/journal'
import type { HostCallContext, JsonObject, JsonValue } from '@vitrine/protocol'
import type { Route } from '@vitrine/protocol/http'
import type * as z from 'zod/mini'
import type { Caller } from '../guard/caller.ts'
import type { HttpRequest } from '../http/http-request.ts'
import type { HttpResponse } from '../http/http-response.ts'
import type { JsonResponse } from '../responses/json.ts'

/** A routed request before its query and body are validated. */
export interface RequestContext {
  readonly request: HttpRequest
  readonly params: Readonly<Record<string, string>>
  readonly caller: Caller
  /** Set for a call with an id: aborted when the call is cancelled by that id. */
  readonly cancelled?: AbortSignal
}

/** A validated request, as a handler gets it. */
export interface Call<Query = unknown, Body = unknown, Params = Readonly<Record<string, string>>> {
  readonly request: HttpRequest
  readonly params: Params
  readonly query: Query
  readonly body: Body
  readonly caller: Caller
  /** Aborted when the client disconnects, when the call is cancelled by its id, or when the daemon closes. */
  signal(): AbortSignal
  /** The caller accepts `text/event-stream`. */
  readonly wantsStream: boolean
  /** The caller by its token, and the context headers. */
  context(): HostCallContext
  /**
   * The sandbox of the path, or the default one: refused to a token with read access. It is started if needed, but not by
   * a GET without `vitrine-start: true`. Its operations carry the caller and the context headers.
   */
  sandbox(): Promise<HostSandbox>
  /** The same, only if it has a running or paused machine; never started. */
  runningSandbox(): Promise<HostSandbox | undefined>
  /** Reads of the sandbox that do not start it, also of a stopped or destroyed one. */
  look(): Promise<HostLook>
  /** The sandbox's journal, also of a stopped or destroyed sandbox. */
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
 * The value that a handler may return: readonly, and any object where the schema allows additional properties, because
 * an interface has no index signature.
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

/**
 * A handler returns JSON that its route's schema accepts, a response for other media types, or nothing. That of a WebSocket
 * settles when the connection may be closed.
 */
export type Handler<R extends Route> = R['response'] extends 'socket'
  ? (call: SocketCall<QueryOf<R>, SocketOf<R>, ParamsOf<R>>) => Promise<void>
  : (call: CallOf<R>) => ResultOf<R>

/** A WebSocket that was opened on a route, as its handler gets it. */
export interface SocketCall<Query = unknown, Socket = RouteSocket, Params = Readonly<Record<string, string>>>
  extends Pick<
    Call<Query, never, Params>,
    'params' | 'query' | 'caller' | 'context' | 'sandbox' | 'journal'
  > {
  readonly socket: Socket
}

/** A connection of a WebSocket route: text messages are JSON with the route's schemas, binary messages are bytes. */
export interface RouteSocket<Sent = unknown, Received = unknown> {
  /** Aborted when the connection is closed, by either side. */
  readonly closed: AbortSignal
  /** Sends nothing on a connection that is closed. A client that does not read is disconnected. */
  send(message: Sent | Uint8Array): void
  /** The next message; undefined when the connection is closed. Rejects for one that the schema refuses; others follow. */
  next(): Promise<Received | Uint8Array | undefined>
  close(code?: number, reason?: string): void
}

/** The connection of one route. */
export type SocketOf<R extends Route> = RouteSocket<
  R['socketMessage'] extends z.ZodMiniType ? z.input<R['socketMessage']> : never,
  R['clientMessage'] extends z.ZodMiniType ? z.output<R['clientMessage']> : never
>

type ResultOf<R extends Route> = R['response'] extends z.ZodMiniType
  ? Promise<JsonOf<R> | JsonResponse<JsonOf<R>> | (R['streams'] extends true ? HttpResponse : never)>
  : R['response'] extends 'nothing'
    ? Promise<void>
    : Promise<HttpResponse>

export type HandlersOf<Routes extends Readonly<Record<string, Route>>> = {
  readonly [Name in keyof Routes]: Handler<Routes[Name]>
}
