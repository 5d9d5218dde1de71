import { sandboxConformance } from '../src/index.ts'
import { anotherHost, localSandboxes } from './sandboxes.ts'

const startHost = (commands: readonly string[]) => anotherHost('bubblewrap', commands)

sandboxConformance('bubblewrap, memory', localSandboxes('bubblewrap', 'memory'), { startHost })
