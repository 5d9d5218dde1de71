import { fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { abortable } from '../abortable.ts'
import type { ArchiveFigures, ArchiveJob, ArchiveRequest } from './archive-host.ts'

/** A separate process that persists and hydrates on request. */
export interface ArchiveHost {
  run(request: ArchiveRequest, root: string): Promise<ArchiveFigures>
  end(): Promise<void>
}

export interface ArchiveHostOptions {
  readonly who: 'ours' | 'openai'
  readonly archive: string
  readonly folder: string
}

export async function startHost(
  { who, archive, folder }: ArchiveHostOptions,
  signal: AbortSignal,
): Promise<ArchiveHost> {
  mkdirSync(folder, { recursive: true })
  const script = fileURLToPath(new URL('./archive-host.ts', import.meta.url))
  const host = fork(script, [who, archive, folder], { execArgv: [...process.execArgv, '--expose-gc'] })
  const gone = once(host, 'exit')
  const failed = gone.then(([code]) => {
    throw new Error(`The process that archives (${who}) exited with ${code}.`)
  })
  failed.catch(() => undefined)
  await abortable(signal, Promise.race([once(host, 'message'), failed]))
  return {
    async run(request, root) {
      host.send({ request, root } satisfies ArchiveJob)
      const [figures] = await abortable(signal, Promise.race([once(host, 'message'), failed]))
      return figures as ArchiveFigures
    },
    async end() {
      if (signal.aborted) host.kill()
      else if (host.connected) host.send('end')
      await gone
    },
  }
}
