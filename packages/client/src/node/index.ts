/** For Node: starts a daemon as a child process. */
import '@vitrine/protocol/require-node'

export { type StartOptions, start } from './start.ts'
