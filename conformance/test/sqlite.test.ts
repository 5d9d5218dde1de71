import { storeConformance } from '../src/index.ts'
import { scale } from '../src/scale.ts'
import { inSqlite } from './stores.ts'

storeConformance('sqlite', inSqlite, { histories: scale.histories })
