import { attackConformance } from '../src/index.ts'
import { localSandboxes } from './sandboxes.ts'
import { smallHost } from './small-host.ts'

attackConformance('bubblewrap', { make: localSandboxes('bubblewrap', 'memory'), smallHost })
