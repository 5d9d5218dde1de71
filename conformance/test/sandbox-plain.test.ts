import { sandboxConformance } from '../src/index.ts'
import { anotherHost, localSandboxes } from './sandboxes.ts'

const startHost = (commands: readonly string[]) => anotherHost('none', commands)

sandboxConformance('plain processes, memory', localSandboxes('none', 'memory'), { startHost })
sandboxConformance('plain processes, SQLite', localSandboxes('none', 'sqlite'), { startHost })
