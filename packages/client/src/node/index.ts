/** For Node: starts a daemon as a child process. */
export { type StartOptions, start } from './start.ts'
