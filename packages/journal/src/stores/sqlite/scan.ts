import type { SQLInputValue } from 'node:sqlite'
import type { ScanRange } from '../contract.ts'
import { jsonEscape } from '../entry-matcher.ts'

/** The query for a range of events; `journal` and `journals` are row ids. */
export function scanQuery(
  columns: string,
  range: ScanRange,
  journal: number | null,
  journals: readonly number[] | undefined,
): { sql: string; values: SQLInputValue[] } {
  const key = journal === null ? 'position' : 'seq'
  const backwards = range.order === 'desc'
  const where: string[] = []
  const values: SQLInputValue[] = []
  if (journal !== null) {
    where.push('journal = ?')
    values.push(journal)
  }
  where.push(backwards ? `${key} < ? AND ${key} >= ?` : `${key} > ? AND ${key} <= ?`)
  values.push(range.from, range.to)
  if (journals !== undefined) {
    // The unary plus keeps the range of positions as the index: by journal, all of their events would be sorted.
    where.push(`+journal IN (${journals.map(() => '?').join(', ')})`)
    values.push(...journals)
  }
  if (range.types !== undefined && !range.types.includes('*')) {
    const alternatives = range.types.map((type) => {
      if (!type.endsWith('.*')) {
        values.push(type)
        return 'type = ?'
      }
      const family = type.slice(0, -1)
      values.push(family.length, family)
      return 'substr(type, 1, ?) = ?'
    })
    where.push(alternatives.length > 0 ? `(${alternatives.join(' OR ')})` : 'FALSE')
  }
  if (range.session !== undefined) {
    where.push('session = ?')
    values.push(range.session)
  }
  if (range.run !== undefined) {
    where.push('run = ?')
    values.push(range.run)
  }
  if (range.text !== undefined) {
    where.push("body LIKE ? ESCAPE '\\'")
    values.push(`%${jsonEscape(range.text).replace(/[\\%_]/g, '\\$&')}%`)
  }
  values.push(range.limit)
  return {
    sql: `SELECT ${columns} FROM events
      WHERE ${where.join(' AND ')} ORDER BY ${key} ${backwards ? 'DESC' : 'ASC'} LIMIT ?`,
    values,
  }
}
