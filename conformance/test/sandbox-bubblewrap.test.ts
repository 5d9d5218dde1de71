import { sandboxConformance, sandboxGroups } from '../src/index.ts'
import { anotherHost, localSandboxes } from './sandboxes.ts'

const startHost = (commands: readonly string[]) => anotherHost('bubblewrap', commands)

sandboxConformance('bubblewrap, memory', localSandboxes('bubblewrap', 'memory'), {
  startHost,
  // The host transfers large files outside the isolation, as it does without isolation.
  groups: sandboxGroups.filter((group) => group !== 'large'),
})
