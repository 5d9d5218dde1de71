import { loadPeer } from './load.ts'
import type { Peer } from './peer.ts'

/** The part of its local sandbox that is used here. */
export interface LocalProcessHandle {
  readonly root: string
  readonly process: {
    exec(command: string, options?: { signal: AbortSignal }): Promise<unknown>
    spawn(command: string): Promise<unknown>
  }
  readonly fs: {
    read(path: string): Promise<string>
    write(path: string, data: string): Promise<void>
    list(path: string): Promise<unknown>
  }
  destroy(): Promise<void>
}

interface LocalProcess {
  localProcessSandbox(options: { baseDir: string } | { dir: string }): {
    create(options: object): Promise<LocalProcessHandle>
  }
}

export async function localProcess(
  options: { baseDir: string } | { dir: string },
): Promise<LocalProcessHandle> {
  const path = ['@tanstack', 'ai-sandbox-local-process', 'dist', 'esm', 'index.js']
  // The type is copied from its declarations; the package is not a dependency of ours.
  const { localProcessSandbox } = (await loadPeer(...path)) as LocalProcess
  return localProcessSandbox(options).create({})
}

export async function tanstack(baseDir: string): Promise<Peer> {
  const handle = await localProcess({ baseDir })
  return {
    name: 'TanStack local-process 0.2.0',
    without: 'no journal, no span',
    root: handle.root,
    exec: (command) => handle.process.exec(command),
    execWithTimeout: (command, ms) => handle.process.exec(command, { signal: AbortSignal.timeout(ms) }),
    start: (command) => handle.process.spawn(command),
    readFile: (path) => handle.fs.read(path),
    createFile: (path, text) => handle.fs.write(path, text),
    list: (path) => handle.fs.list(path),
    close: () => handle.destroy(),
  }
}
