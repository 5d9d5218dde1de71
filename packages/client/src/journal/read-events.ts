import type { JournalFilter, Page, ReadOptions, Summary, SummaryOptions } from '@vitrine/protocol'
import type { HttpClient } from '../http/http-client.ts'
import { withFields } from '../http/options.ts'
import { requestJson } from '../http/request.ts'
import { deepFreeze } from './deep-freeze.ts'

/** Which journals a request reads: without a scope, the one that its path names. */
type Scope = { readonly scope: 'all' } | { readonly scope: undefined; readonly journals: undefined }

export async function readEvents(
  http: HttpClient,
  options: ReadOptions & JournalFilter,
  scope: Scope,
): Promise<Page> {
  const { at, signal, ...rest } = options
  const query = withFields('read', rest, {
    at: at instanceof Date ? at.toISOString() : at,
    wait: undefined,
    ...scope,
  })
  return deepFreeze(await requestJson<Page>(http, { path: ['events'], query, signal }))
}

export async function summarizeEvents(
  http: HttpClient,
  options: SummaryOptions & JournalFilter,
  scope: Scope,
): Promise<Summary> {
  const { signal, ...rest } = options
  const query = withFields('summary', rest, scope)
  return requestJson(http, { path: ['events', 'summary'], query, signal })
}
