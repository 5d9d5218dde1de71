import { mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { openStore, sqliteStore } from '@vitrine/journal'
import { createSandbox, type LocalOptions, type LocalSandbox, local } from '@vitrine/sandbox'

/** Runs something with a sandbox whose journal is a SQLite file, in a folder that is gone afterwards. */
export async function withSandbox<T>(
  options: LocalOptions,
  run: (sandbox: LocalSandbox, folder: string) => Promise<T>,
): Promise<T> {
  // Not below /tmp: a sandbox has a /tmp of its own.
  const folder = mkdtempSync(join('/var/tmp', 'vitrine-bench-'))
  try {
    await using store = await openStore(sqliteStore({ path: join(folder, 'journal.db') }))
    const provider = local({ data: join(folder, 'data'), ...options })
    await using sandbox = await createSandbox({ store, provider })
    return await run(sandbox, folder)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
