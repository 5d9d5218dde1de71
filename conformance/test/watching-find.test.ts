import { watcherConformance } from '../src/index.ts'
import { scale } from '../src/scale.ts'
import { localSandboxes } from './sandboxes.ts'

watcherConformance('plain, find', localSandboxes('none', 'memory', 'find'), { storm: scale.storm })
