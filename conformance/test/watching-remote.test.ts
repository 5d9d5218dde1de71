import { watcherConformance } from '../src/index.ts'
import { remoteSandboxes } from './remote-sandboxes.ts'

// The watcher is the daemon's; a client only has another way to its events.
watcherConformance('a client over HTTP', remoteSandboxes('none'), { groups: ['viewers'] })
