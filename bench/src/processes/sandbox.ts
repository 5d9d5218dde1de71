import { join } from 'node:path'
import { openStore, sqliteStore } from '@vitrine/journal'
import { createLocalSandbox, type LocalOptions, type LocalSandbox, local } from '@vitrine/sandbox'
import { abortable } from '../abortable.ts'
import { inScratch } from '../scratch.ts'

/** Calls `run` with a sandbox whose journal is a SQLite file, in a folder that is removed afterwards. */
export async function withSandbox<T>(
  options: LocalOptions,
  signal: AbortSignal,
  run: (sandbox: LocalSandbox, folder: string) => Promise<T>,
): Promise<T> {
  return inScratch(async (folder) => {
    await using store = await openStore(sqliteStore({ path: join(folder, 'journal.db') }))
    const provider = local({ data: join(folder, 'data'), ...options })
    await using sandbox = await createLocalSandbox({ store, provider, signal })
    return await abortable(signal, run(sandbox, folder))
  })
}
