import { loadPeer } from './load.ts'
import type { Peer } from './peer.ts'

interface LocalProcess {
  localProcessSandbox(options: { baseDir: string }): {
    create(options: object): Promise<{
      process: {
        exec(command: string, options?: { signal: AbortSignal }): Promise<unknown>
        spawn(command: string): Promise<unknown>
      }
      destroy(): Promise<void>
    }>
  }
}

export async function tanstack(baseDir: string): Promise<Peer> {
  const path = ['@tanstack', 'ai-sandbox-local-process', 'dist', 'esm', 'index.js']
  // As its declarations say; it is not among our own dependencies.
  const { localProcessSandbox } = (await loadPeer(...path)) as LocalProcess
  const handle = await localProcessSandbox({ baseDir }).create({})
  return {
    name: 'TanStack local-process 0.2.0',
    without: 'no journal, no span',
    exec: (command) => handle.process.exec(command),
    execWithin: (command, ms) => handle.process.exec(command, { signal: AbortSignal.timeout(ms) }),
    start: (command) => handle.process.spawn(command),
    close: () => handle.destroy(),
  }
}
