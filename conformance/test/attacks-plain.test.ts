import { attackConformance } from '../src/index.ts'
import { localSandboxes } from './sandboxes.ts'

attackConformance('plain processes', { make: localSandboxes('none', 'memory') })
