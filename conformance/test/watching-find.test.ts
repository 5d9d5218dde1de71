import { watcherConformance } from '../src/index.ts'
import { localSandboxes } from './sandboxes.ts'

watcherConformance('plain, find', localSandboxes('none', 'memory', 'find'))
