import type * as sqlite from 'node:sqlite'

// Not imported: Node 20 has no such module, and would say that instead of the version that Vitrine needs.
export const { DatabaseSync } = process.getBuiltinModule('node:sqlite')

export type DatabaseSync = sqlite.DatabaseSync
