import { sandboxConformance } from '../src/index.ts'
import { anotherHost, localSandboxes } from './sandboxes.ts'

const startHost = (commands: readonly string[]) => anotherHost('none', commands)

sandboxConformance('plain processes, memory', localSandboxes('none', 'memory'), { startHost })
// Where the store matters; that both stores are the same to everything else is what the kit for stores shows.
sandboxConformance('plain processes, SQLite', localSandboxes('none', 'sqlite'), {
  startHost,
  groups: ['endings', 'output', 'record', 'lifecycle'],
})
