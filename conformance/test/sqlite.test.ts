import { storeConformance } from '../src/index.ts'
import { inSqlite } from './stores.ts'

storeConformance('sqlite', inSqlite)
