import { watcherConformance } from '../src/index.ts'
import { localSandboxes } from './sandboxes.ts'

watcherConformance('plain processes, native', localSandboxes('none', 'memory'))
watcherConformance('plain processes, native, SQLite', localSandboxes('none', 'sqlite'))
