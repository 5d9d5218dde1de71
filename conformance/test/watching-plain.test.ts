import { watcherConformance } from '../src/index.ts'
import { scale } from '../src/scale.ts'
import { localSandboxes } from './sandboxes.ts'

watcherConformance('plain processes, native', localSandboxes('none', 'memory'), {
  // Only the native watcher has a queue that can overflow.
  sizes: { storm: scale.overflow, burst: scale.fileBurst },
})
// Only the groups that depend on the store, which holds images and feeds the viewers.
watcherConformance('plain processes, native, SQLite', localSandboxes('none', 'sqlite'), {
  groups: ['images', 'viewers'],
})
