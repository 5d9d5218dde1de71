// The index of each package for Node loads this module before its own: `export {} from '@vitrine/protocol/require-node'`.
// Modules are evaluated in the order in which they are named, so an older version is refused before a module uses what only
// a newer one has.
import { nodeVersionProblem } from './version.ts'

declare const process: { readonly version: string }

const problem = nodeVersionProblem(process.version)
if (problem !== undefined) throw new Error(problem)
