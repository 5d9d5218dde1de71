import type { InstallProgress } from '@vitrine/protocol'
import type { ObserverErrors } from '@vitrine/protocol/primitives'
import type { HttpClient } from './http/http-client.ts'
import { withFields } from './http/options.ts'
import { dataOf, errorOf, requestFrames } from './streams/frame-reader.ts'

export interface InstallOptions {
  readonly version?: string
  onProgress?(progress: InstallProgress): void
  readonly signal?: AbortSignal
}

export interface Installed {
  readonly version: string
  readonly path: string
}

/** Installs an agent at the daemon, which streams its progress and then the result. */
export async function installAgent(
  http: HttpClient,
  name: string,
  options: InstallOptions,
  observerErrors: ObserverErrors,
): Promise<Installed> {
  const { version, onProgress = () => undefined, signal, ...rest } = options
  const report = observerErrors.guard('onProgress', onProgress)
  const frames = await requestFrames(http, {
    method: 'POST',
    path: ['agents', name, 'install'],
    json: withFields('installAgent', rest, {
      agentVersion: version,
      agentProcessVersion: undefined,
      reinstall: undefined,
    }),
    signal,
  })
  let installed: unknown
  try {
    for (let frame = await frames.next(); frame !== undefined; frame = await frames.next()) {
      if (frame.event === 'error') throw errorOf(frame)
      else if (frame.event === 'progress') report(dataOf(frame) as InstallProgress)
      else if (frame.event === 'result') installed = dataOf(frame)
      else if (frame.event === 'end') return (installed ?? dataOf(frame)) as Installed
    }
    throw frames.cutError()
  } finally {
    frames.close()
  }
}
