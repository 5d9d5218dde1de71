/** The `vitrine` command as a value, for programs that embed it. */
export { createProgram } from './program.ts'
