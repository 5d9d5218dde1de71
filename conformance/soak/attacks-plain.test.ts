import { attackConformance } from '../src/index.ts'
import { localSandboxes } from '../test/sandboxes.ts'
import { smallHost } from '../test/small-host.ts'

attackConformance('plain processes', { make: localSandboxes('none', 'memory'), smallHost })
