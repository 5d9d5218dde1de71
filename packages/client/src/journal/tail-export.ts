import type { ExportedItem, TailExportOptions } from '@vitrine/protocol'
import { PullIterator, requireWholeNumber } from '@vitrine/protocol/primitives'
import type { HttpClient } from '../http/http-client.ts'
import { checkKeys } from '../http/options.ts'
import type { Frame } from '../streams/sse-parser.ts'
import { deepFreeze } from './deep-freeze.ts'
import { type PlacedItem, ResumedSource } from './tail.ts'

/** Tails `/journal/export`. */
export function tailExport(
  http: HttpClient,
  options: TailExportOptions,
): AsyncIterableIterator<ExportedItem, undefined> {
  checkKeys('tailExport', options, { after: true, signal: true })
  const { after = 0, signal } = options
  const start = String(requireWholeNumber('after', after))
  const plan = { path: ['journal', 'export'], query: {}, after: start, resumes: true }
  return new PullIterator(new ResumedSource(http, plan, placed), signal)
}

function placed({ event, id }: Frame, data: unknown): PlacedItem<ExportedItem> | undefined {
  if (event !== undefined) return undefined
  // The server sends exported items unchanged.
  const item = deepFreeze(data as ExportedItem)
  return { item, cursor: id, seq: 'hole' in item ? item.hole.to : item.event.seq }
}
