import { loadPeer } from './load.ts'
import type { Peer } from './peer.ts'

interface UnixLocal {
  UnixLocalSandboxClient: new (options: {
    workspaceBaseDir: string
  }) => {
    create(): Promise<{
      readonly state: { readonly workspaceRootPath: string }
      exec(options: {
        cmd: string
        shell: string
        login: boolean
        yieldTimeMs?: number
      }): Promise<{ exitCode?: number | null }>
      readFile(options: { path: string }): Promise<Uint8Array>
      listDir(options: { path: string }): Promise<unknown>
      createEditor(): {
        createFile(operation: { type: 'create_file'; path: string; diff: string }): Promise<unknown>
      }
      persistWorkspace(): Promise<Uint8Array>
      hydrateWorkspace(archive: Uint8Array): Promise<void>
      close(): Promise<void>
    }>
  }
}

/** Its fastest setup: `sh` without login. Its default is a login shell, which takes about 2 ms more. */
const shell = { shell: '/bin/sh', login: false }

export async function openai(workspaceBaseDir: string): Promise<Peer> {
  const path = ['@openai', 'agents-core', 'dist', 'sandbox', 'local.mjs']
  // The type is copied from its declarations; the package is not a dependency of ours.
  const { UnixLocalSandboxClient } = (await loadPeer(...path)) as UnixLocal
  const session = await new UnixLocalSandboxClient({ workspaceBaseDir }).create()
  const editor = session.createEditor()
  const exec = (cmd: string, yieldTimeMs?: number) =>
    session.exec({ cmd, ...shell, ...(yieldTimeMs !== undefined && { yieldTimeMs }) })
  return {
    name: 'OpenAI unix-local 0.20.0',
    without: 'no journal; its client has no time limit, only a time after which it returns',
    root: session.state.workspaceRootPath,
    exec: (command) => exec(command),
    execWithTimeout: (command, ms) => exec(command, ms),
    start: (command) => exec(command, 250),
    readFile: (path) => session.readFile({ path }),
    createFile: (path, text) =>
      editor.createFile({ type: 'create_file', path, diff: text.replace(/^/gm, '+') }),
    list: (path) => session.listDir({ path }),
    archive: {
      persist: () => session.persistWorkspace(),
      hydrate: (archive) => session.hydrateWorkspace(archive),
    },
    close: () => session.close(),
  }
}
