import { sandboxConformance, sandboxGroups } from '../src/index.ts'
import { anotherHost, localSandboxes } from './sandboxes.ts'

const startHost = (commands: readonly string[]) => anotherHost('bubblewrap', commands)

sandboxConformance('bubblewrap, memory', localSandboxes('bubblewrap', 'memory'), {
  startHost,
  // The host moves large files itself, in the same way as without isolation.
  groups: sandboxGroups.filter((group) => group !== 'large'),
})
