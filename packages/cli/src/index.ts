/** The `vitrine` command as a value, for programs that embed it. */
export {} from '@vitrine/protocol/require-node'

export { createProgram } from './program.ts'
