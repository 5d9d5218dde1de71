import { packageFolders, runTool } from './tools.ts'

/** Emits `dist` and types for every package, in the order their references ask for. */
const built = runTool('tsc', ['--build', ...packageFolders().map((name) => `packages/${name}`)])
if (!built) process.exit(1)
