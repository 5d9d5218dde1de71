/** A separate module, so that the install code and its sandbox are loaded on the first install only. */
export { installAgent } from '@vitrine/agents'
