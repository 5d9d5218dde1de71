import { sandboxConformance, sandboxGroups } from '../src/index.ts'
import { anotherHost, localSandboxes } from './sandboxes.ts'

const startHost = (commands: readonly string[]) => anotherHost('bubblewrap', commands)

sandboxConformance('bubblewrap, memory', localSandboxes('bubblewrap', 'memory'), {
  startHost,
  // What is large is handled by the host, in the same way as without isolation.
  groups: sandboxGroups.filter((group) => group !== 'large'),
})
