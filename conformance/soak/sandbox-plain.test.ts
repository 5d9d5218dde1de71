import { sandboxConformance } from '../src/index.ts'
import { anotherHost, localSandboxes } from '../test/sandboxes.ts'

const startHost = (commands: readonly string[]) => anotherHost('none', commands)

sandboxConformance('plain processes, memory', localSandboxes('none', 'memory'), { startHost })
// Only the groups that depend on the store; the store kit checks that both stores behave the same.
sandboxConformance('plain processes, SQLite', localSandboxes('none', 'sqlite'), {
  startHost,
  groups: ['endings', 'output', 'record', 'lifecycle'],
})
