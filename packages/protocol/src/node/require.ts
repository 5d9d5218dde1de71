// Each package for Node imports this module first. Modules are evaluated in the order of their imports, so an older
// version is refused before a module uses what only the newer one has.
import { nodeVersionProblem } from './version.ts'

declare const process: { readonly version: string }

const problem = nodeVersionProblem(process.version)
if (problem !== undefined) throw new Error(problem)
