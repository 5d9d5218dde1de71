import { afterAll } from 'vitest'
import { attackConformance } from '../src/index.ts'
import { scale } from '../src/scale.ts'
import { RemoteAttacks } from './remote-attacks.ts'

const remote = new RemoteAttacks('bubblewrap', { maxConnections: scale.attackedConnections })
afterAll(() => remote.close())

attackConformance('a daemon over HTTP', remote)
