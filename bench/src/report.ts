/** One measured line. A figure without a bar is there to be looked at. */
export interface Row {
  readonly what: string
  readonly measured: string
  readonly against: string
  readonly bar: string
  readonly holds: boolean | null
}

export function printTable(title: string, rows: readonly Row[]): void {
  const columns = ['what', 'measured', 'against', 'bar', 'holds'] as const
  const cells = [
    ['what', 'measured', 'against', 'bar', ''],
    ...rows.map((row) => columns.map((column) => (column === 'holds' ? mark(row.holds) : row[column]))),
  ]
  const widths = columns.map((_, index) => Math.max(...cells.map((line) => line[index]!.length)))
  console.log(`\n${title}`)
  for (const line of cells)
    console.log(
      line
        .map((cell, index) => cell.padEnd(widths[index]!))
        .join('  ')
        .trimEnd(),
    )
}

function mark(holds: boolean | null): string {
  if (holds === null) return ''
  return holds ? 'holds' : 'FAILS'
}

export function median(numbers: readonly number[]): number {
  const sorted = numbers.toSorted((a, b) => a - b)
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN
}

export function percentile(numbers: readonly number[], share: number): number {
  const sorted = numbers.toSorted((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN
}

export function rate(perSecond: number): string {
  return `${Math.round(perSecond).toLocaleString('en')}/s`
}

export function mebibytes(bytes: number): string {
  return `${(bytes / 1024 / 1024).toFixed(1)} MiB`
}
