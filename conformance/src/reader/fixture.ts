import type { Journal, RetentionLimits } from '@vitrine/journal'
import type { JournalOrigin } from '@vitrine/protocol'
import { onTestFinished } from 'vitest'

/** A journal that is written directly and read through the reader under test. */
export interface WriterAndReader {
  readonly writer: Journal
  /** A new reader of the same journal: the journal itself, one in another process, or a client. */
  reader(): Promise<JournalOrigin>
  /** Trims the journal, if supported. */
  trim?(limits: RetentionLimits): Promise<unknown>
  /** Restarts the process or store that serves the readers, if supported; cursors stay valid. Returns the new writer. */
  restart?(): Promise<Journal>
  dispose(): Promise<void>
}

export type MakeWriterAndReader = () => Promise<WriterAndReader>

/** A fixture for one test, disposed when the test ends. */
export async function newReaderFixture(make: MakeWriterAndReader): Promise<WriterAndReader> {
  const fixture = await make()
  onTestFinished(() => fixture.dispose())
  return fixture
}
