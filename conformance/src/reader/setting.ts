import type { Journal, RetentionLimits } from '@vitrine/journal'
import type { JournalReader } from '@vitrine/protocol'
import { onTestFinished } from 'vitest'

/** A journal that is written here and read through whatever is under test. */
export interface WriterAndReader {
  readonly writer: Journal
  /** A new reader each time, of the same journal: the journal itself, one in another process, a client. */
  reader(): Promise<JournalReader>
  /** Takes events out of the journal, where that can be asked for. */
  trim?(limits: RetentionLimits): Promise<unknown>
  /** Ends what serves the readers and starts it again, where it can; cursors stay good. Gives the new writer. */
  restart?(): Promise<Journal>
  dispose(): Promise<void>
}

export type MakeWriterAndReader = () => Promise<WriterAndReader>

/** For one test; it is gone when the test ends. */
export async function newSetting(make: MakeWriterAndReader): Promise<WriterAndReader> {
  const setting = await make()
  onTestFinished(() => setting.dispose())
  return setting
}
