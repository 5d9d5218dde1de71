import { watcherConformance } from '../src/index.ts'
import { scale } from '../src/scale.ts'
import { localSandboxes } from '../test/sandboxes.ts'

// The watcher is the same as without isolation and sees the workspace from outside.
watcherConformance('bubblewrap, native', localSandboxes('bubblewrap', 'memory'), {
  sizes: { storm: scale.storm, burst: scale.fileBurst },
})
