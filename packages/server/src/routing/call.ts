import type { HostSandbox } from '@vitrine/host'
import type { Journal } from '@vitrine/journal'
import type { Route } from '@vitrine/protocol/http'
import type * as z from 'zod/mini'
import type { Asked } from '../exchange/asked.ts'
import type { Caller } from '../guard/caller.ts'

/** One request, checked: what a handler works with. */
export interface Call<Query = unknown, Body = unknown> {
  readonly request: Asked
  readonly params: Readonly<Record<string, string>>
  readonly query: Query
  readonly body: Body
  readonly caller: Caller
  /** Aborted when the caller is gone, or when the daemon is closing. */
  readonly signal: AbortSignal
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

export type CallOf<R extends Route> = Call<QueryOf<R>, BodyOf<R>>

/** Gives what is to be JSON, or an `Answer`. */
export type Handler<R extends Route> = (call: CallOf<R>) => Promise<unknown>

export type HandlersOf<Routes extends Readonly<Record<string, Route>>> = {
  readonly [Name in keyof Routes]: Handler<Routes[Name]>
}
