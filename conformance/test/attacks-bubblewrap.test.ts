import { attackConformance } from '../src/index.ts'
import { localSandboxes } from './sandboxes.ts'

attackConformance('bubblewrap', { make: localSandboxes('bubblewrap', 'memory') })
