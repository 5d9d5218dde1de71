export interface AttackRow {
  readonly aim: string
  readonly promise: string
  verdict: 'held' | 'NOT HELD' | 'not applicable'
  reason?: string
}

/** Formats what held, what did not, and what did not apply and why, as text. */
export function attackTable(title: string, rows: readonly AttackRow[]): string {
  const count = (verdict: AttackRow['verdict']) => rows.filter((row) => row.verdict === verdict).length
  const others = rows.filter(({ verdict }) => verdict !== 'held')
  const lines = others.map(({ aim, promise, verdict, reason }) =>
    [`  ${verdict}: ${aim}: ${promise}`, reason].filter(Boolean).join(' – '),
  )
  const summary = `${count('held')} held, ${count('NOT HELD')} not held, ${count('not applicable')} not applicable`
  return [`attacks: ${title}: ${summary}`, ...lines].join('\n')
}
