import { openStore, sqliteStore } from '@vitrine/journal'
import { createLocalSandbox, local } from '../../src/index.ts'

/** Prepares a sandbox and never finishes. */
const { data, path, word, root } = JSON.parse(process.argv[2] ?? '{}')
const asked = {
  provider: local({ data, isolation: 'none', ...(root && { root }) }),
  store: await openStore(sqliteStore({ path })),
  id: 'dying',
  workspace: { setup: ['touch half', `sleep ${word}`] },
}
await createLocalSandbox(asked)
