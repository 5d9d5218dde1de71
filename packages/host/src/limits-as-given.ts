import type { Store } from '@vitrine/journal'
import type { Capabilities } from '@vitrine/protocol'
import type { SandboxRecord } from '@vitrine/protocol/records'

const kinds = { memoryBytes: 'memory', pids: 'pids', tmpBytes: 'tmp' } as const

type LimitName = keyof typeof kinds

/**
 * Completes a record of a version that stored `false` for a default limit which its machine could not enforce, as if the
 * caller had switched it off. It was switched off by the caller if the first machine could have enforced it. Any other
 * becomes a default again.
 */
export async function withLimitsAsGiven(store: Store, record: SandboxRecord): Promise<SandboxRecord> {
  if (record.limitsAsGiven) return record
  const { limits = {} } = record.local
  const off = (Object.keys(kinds) as LimitName[]).filter((name) => limits[name] === false)
  const enforceable = off.length === 0 ? [] : await firstLimits(store, record.id)
  const unsure = off.filter((name) => !enforceable.includes(kinds[name]))
  const given = Object.entries(limits).filter(([name]) => !unsure.some((one) => one === name))
  return {
    ...record,
    ...(unsure.length > 0 && { local: { ...record.local, limits: Object.fromEntries(given) } }),
    limitsAsGiven: true,
  }
}

/** The limits that the first machine of a sandbox could enforce; none if the journal does not have its start any more. */
async function firstLimits(store: Store, id: string): Promise<Capabilities['limits']> {
  const journal = await store.journal(id)
  const { events } = await journal.read({ types: ['sandbox.ready'], limit: 1 })
  const [ready] = events
  if (ready?.type !== 'sandbox.ready') return []
  const { capabilities } = ready.data
  const limits = isFields(capabilities) ? capabilities.limits : undefined
  return Array.isArray(limits) ? limits : []
}

function isFields(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null
}
