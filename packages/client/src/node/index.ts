/** For Node: starts a daemon as a child process. */
export {} from '@vitrine/protocol/require-node'

export { type StartOptions, start } from './start.ts'
