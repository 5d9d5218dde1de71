/** Test kits that any implementation can run: stores, readers, crashes. */
export { type CrashReport, type CrashRound, type CrashTestOptions, crashTest } from './crash/run.ts'
export { readerConformance } from './reader/conformance.ts'
export type { MakeWriterAndReader, WriterAndReader } from './reader/setting.ts'
export { storeConformance } from './store/conformance.ts'
export type { MakeStore, StoreUnderTest } from './store/scene.ts'
