/** The `vitrine` command as a value, for programs that carry it. */
export { createProgram } from './program.ts'
