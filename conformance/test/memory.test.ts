import { storeConformance } from '../src/index.ts'
import { inMemory } from './stores.ts'

storeConformance('memory', inMemory)
