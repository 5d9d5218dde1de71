/** A file of its own, to be loaded when something is installed: it brings a whole sandbox to install in. */
export { installAgent } from '@vitrine/agents'
