/** For Node: a daemon of one's own. */
export { type StartOptions, start } from './start.ts'
