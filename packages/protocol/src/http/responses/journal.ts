import * as z from 'zod/mini'
import { component } from '../../component.ts'
import { journalEvent } from './event.ts'

const seq = z.int().check(z.gte(0))

export const journalHead = component('JournalHead', () => z.object({ seq, hash: z.string() }))

export const verification = component('Verification', () =>
  z.discriminatedUnion('ok', [
    component('VerifiedJournal', () =>
      z.object({ ok: z.literal(true), head: journalHead(), events: z.int(), missing: z.int() }),
    )(),
    component('ChangedJournal', () => z.object({ ok: z.literal(false), seq, reason: z.string() }))(),
  ]),
)

const exportedEvent = component('ExportedEvent', () => z.object({ event: journalEvent(), hash: z.string() }))

const exportedHole = component('ExportedHole', () =>
  z.object({
    hole: z.object({
      from: seq,
      to: seq,
      /** The hash of the last event that was there: the next one continues from it. */
      hash: z.string(),
      reason: z.string(),
      types: z.array(z.string()),
    }),
  }),
)

/** An event with its hash, or the hole that trimming left. */
export const exportedItem = component('ExportedItem', () => z.union([exportedEvent(), exportedHole()]))

export const exportPage = component('ExportPage', () => z.object({ items: z.array(exportedItem()) }))
