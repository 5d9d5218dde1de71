import { watcherConformance } from '../src/index.ts'
import { scale } from '../src/scale.ts'
import { localSandboxes } from './sandboxes.ts'

watcherConformance('plain processes, poll', localSandboxes('none', 'memory', 'poll'), {
  sizes: { storm: scale.storm, burst: scale.fileBurst },
})
