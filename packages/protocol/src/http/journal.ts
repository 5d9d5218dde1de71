import * as z from 'zod/mini'
import { strict } from '../options/strict.ts'
import { exportedItem, exportPage, journalHead, verification } from './responses/journal.ts'
import { frames } from './responses/stream.ts'
import { table } from './route.ts'
import { count } from './values.ts'

/** Routes that check and copy a journal. */
export const journalRoutes = table({
  readJournalHead: {
    method: 'GET',
    path: '/journal/head',
    scope: 'sandbox',
    access: 'read',
    summary: 'Reads the newest `seq` of the journal and its hash.',
    response: journalHead,
  },
  verifyJournal: {
    method: 'GET',
    path: '/journal/verify',
    scope: 'sandbox',
    access: 'read',
    summary: 'Checks the hash chain of the journal, and that it contains a head that was stored elsewhere.',
    query: () =>
      strict({
        /** The head that was stored elsewhere: its `seq` and its hash. */
        seq: z.optional(count()),
        hash: z.optional(z.string()),
      }),
    response: verification,
  },
  exportJournal: {
    method: 'GET',
    path: '/journal/export',
    scope: 'sandbox',
    access: 'read',
    summary:
      'Reads a page of events with their hashes, and of the holes between them; as an event stream, past items and then new ones.',
    query: () =>
      strict({
        /** Only items after this `seq`. */
        after: z.optional(count()),
        limit: z.optional(count()),
      }),
    response: exportPage,
    streams: true,
    frames: () => frames({ message: exportedItem() }),
  },
})
