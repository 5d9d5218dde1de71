import { watcherConformance } from '../src/index.ts'
import { scale } from '../src/scale.ts'
import { localSandboxes } from './sandboxes.ts'

// The same watcher as without isolation, on a workspace that it sees from outside.
watcherConformance('bubblewrap, native', localSandboxes('bubblewrap', 'memory'), {
  sizes: { storm: scale.storm, burst: scale.fileBurst },
})
