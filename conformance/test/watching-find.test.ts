import { watcherConformance } from '../src/index.ts'
import { scale } from '../src/scale.ts'
import { localSandboxes } from './sandboxes.ts'

watcherConformance('plain, find', localSandboxes('none', 'memory', 'find'), {
  sizes: { storm: scale.storm, burst: scale.fileBurst },
})
