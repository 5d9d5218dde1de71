import { storeConformance } from '../src/index.ts'
import { scale } from '../src/scale.ts'
import { inMemory } from './stores.ts'

storeConformance('memory', inMemory, { histories: scale.histories })
