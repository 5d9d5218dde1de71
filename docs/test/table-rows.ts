/** The rows of the table below a heading of a page, without their padding. */
export function rowsBelow(page: string, heading: string): string[][] {
  const [, after = ''] = page.split(`\n## ${heading}\n`)
  const [section = ''] = after.split('\n## ')
  const lines = section.split('\n').filter((line) => line.startsWith('|'))
  return lines.slice(2).map((line) =>
    line
      .slice(1, -1)
      .split('|')
      .map((cell) => cell.trim()),
  )
}

export function code(text: string): string {
  return `\`${text}\``
}
