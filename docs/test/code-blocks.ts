import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

export interface CodeBlock {
  /** The path of the page in the repository. */
  readonly file: string
  /** The line of the opening fence, from 1. */
  readonly line: number
  readonly code: string
  /** A `program` runs by itself. A `fragment` does not, but its types are checked too. */
  readonly kind: 'program' | 'fragment'
}

/** The pages whose code is tested. */
export function documentPages(root: string): string[] {
  return [
    'README.md',
    'CONTRIBUTING.md',
    'ARCHITECTURE.md',
    ...globSync(['docs/{,http/,cookbook/}*.md', 'packages/*/README.md', 'examples/*/README.md'], {
      cwd: root,
    }).sort(),
  ]
}

/** The TypeScript blocks of a page, also those inside of a list. */
export function codeBlocks(root: string, file: string): CodeBlock[] {
  const blocks: CodeBlock[] = []
  const lines = readFileSync(join(root, file), 'utf8').split('\n')
  for (let index = 0; index < lines.length; index += 1) {
    const [, indent, fragment] = /^( *)```ts( fragment)?$/.exec(lines[index]!) ?? []
    if (indent === undefined) continue
    const end = lines.indexOf(`${indent}\`\`\``, index + 1)
    const code = lines.slice(index + 1, end).map((line) => line.slice(indent.length))
    blocks.push({ file, line: index + 1, code: code.join('\n'), kind: fragment ? 'fragment' : 'program' })
    index = end
  }
  return blocks
}

/** The TypeScript blocks of a page that run by themselves. */
export function runnableBlocks(root: string, file: string): CodeBlock[] {
  return codeBlocks(root, file).filter(({ kind }) => kind === 'program')
}
