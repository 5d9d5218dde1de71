import { watcherConformance } from '../src/index.ts'
import { localSandboxes } from './sandboxes.ts'

// The storm of 30,000 files is always whole here: only the native watcher has a queue that can overflow.
watcherConformance('plain processes, native', localSandboxes('none', 'memory'))
// Where the store matters: it keeps images and feeds the viewers.
watcherConformance('plain processes, native, SQLite', localSandboxes('none', 'sqlite'), {
  groups: ['images', 'viewers'],
})
