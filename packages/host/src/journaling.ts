import {
  type AddSinkOptions,
  isWorkspaceSink,
  type OpenStoreOptions,
  type PayloadPolicy,
  type PrivateWriter,
  type RetentionLimits,
  type Sink,
  type Store,
} from '@vitrine/journal'
import type { OnObserverError } from '@vitrine/protocol'

/** The options of a host for its journals. */
export interface JournalingOptions {
  /** Limits of each journal; default 1 GiB. */
  readonly retention?: RetentionLimits
  /** The parts of command lines, output, paths and errors that the journals keep; default all, masked. */
  readonly payload?: PayloadPolicy
  /** The same for operations by their name, such as `exec`, with the events of their processes. */
  readonly payloadByOp?: Readonly<Record<string, PayloadPolicy>>
  /** Each gets every event of every journal, also those of earlier hosts that it has not had. */
  readonly sinks?: readonly HostSink[]
  /** Called for each error of an observer: a listener of a session, a tap, `onInstall`, `onProgress`. */
  readonly onObserverError?: OnObserverError
}

/** A sink by the name under which the store keeps its position. */
export interface HostSink extends AddSinkOptions {
  readonly name: string
  readonly sink: Sink
}

export function storeOptionsOf({
  retention,
  payload,
  payloadByOp,
  onObserverError,
}: JournalingOptions): Pick<OpenStoreOptions, 'retention' | 'policy' | 'policyByOp' | 'onObserverError'> {
  return {
    ...(retention && { retention }),
    ...(payload && { policy: payload }),
    ...(payloadByOp && { policyByOp: payloadByOp }),
    ...(onObserverError && { onObserverError }),
  }
}

export async function addSinks(
  store: Store,
  { sinks = [] }: JournalingOptions,
  writer: PrivateWriter,
): Promise<void> {
  for (const { name, sink, ...options } of sinks) {
    if (isWorkspaceSink(sink)) sink.writeWith(writer)
    await store.addSink(name, sink, options)
  }
}

/** The files that the sinks write into the workspace of a sandbox. */
export function privatePathsOf({ sinks = [] }: JournalingOptions, id: string): readonly string[] {
  return sinks.flatMap(({ sink }) => (isWorkspaceSink(sink) ? [sink.pathIn(id)] : []))
}
