import { readFileSync } from 'node:fs'

export interface CodeBlock {
  readonly file: string
  readonly line: number
  readonly code: string
}

/** The TypeScript blocks of a page that run by themselves; a `fragment` is part of a larger file. */
export function runnableBlocks(file: string): CodeBlock[] {
  const blocks: CodeBlock[] = []
  const lines = readFileSync(file, 'utf8').split('\n')
  for (let index = 0; index < lines.length; index += 1) {
    if (lines[index] !== '```ts') continue
    const end = lines.indexOf('```', index + 1)
    blocks.push({ file, line: index + 1, code: lines.slice(index + 1, end).join('\n') })
    index = end
  }
  return blocks
}
