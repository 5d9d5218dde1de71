import { sandboxConformance } from '../src/index.ts'
import { remoteSandboxes } from './remote-sandboxes.ts'

sandboxConformance('a client over HTTP', remoteSandboxes('none'), { remote: true })
