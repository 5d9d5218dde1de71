import { watcherConformance } from '../src/index.ts'
import { localSandboxes } from './sandboxes.ts'

watcherConformance('bubblewrap, native', localSandboxes('bubblewrap', 'memory'))
