import { afterAll } from 'vitest'
import { attackConformance } from '../src/index.ts'
import { RemoteAttacks } from './remote-attacks.ts'

const remote = new RemoteAttacks('bubblewrap')
afterAll(() => remote.close())

attackConformance('a daemon over HTTP', remote)
