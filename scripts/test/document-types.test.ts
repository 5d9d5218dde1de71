import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { codeBlocks, runnableBlocks } from '../../docs/test/code-blocks.ts'
import { typeComplaints } from '../document-types.ts'

const page = `# A page

\`\`\`ts
const numbers = [1, 2]
console.log(numbers.at(0).toFixed())
\`\`\`

1. A list:

   \`\`\`ts fragment
   const first: string = numbers[0]
   \`\`\`

\`\`\`ts fragment
import { join } from 'node:path'

const numbers = join(1)
\`\`\`

\`\`\`sh
npm start
\`\`\`

\`\`\`ts fragment
const [numbers] = [3]
console.log(numbers + 1)
\`\`\`
`

function folderWith(text: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'document-types-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  writeFileSync(join(folder, 'page.md'), text)
  return folder
}

it('reports the page, the line and the message of each type error, once', () => {
  const complaints = typeComplaints([codeBlocks(folderWith(page), 'page.md')])
  expect(complaints).toEqual([
    expect.stringMatching(/^page\.md:5: TS2532: Object is possibly 'undefined'\.$/),
    expect.stringMatching(/^page\.md:11: TS2322: Type 'number \| undefined' is not assignable.*\n {2}Type/),
    expect.stringMatching(/^page\.md:17: TS2345: Argument of type 'number'/),
  ])
})

it('finds blocks in lists, and tells programs and fragments apart', () => {
  const folder = folderWith(page)
  expect(codeBlocks(folder, 'page.md').map(({ line, kind }) => `${line} ${kind}`)).toEqual([
    '3 program',
    '10 fragment',
    '14 fragment',
    '24 fragment',
  ])
  expect(codeBlocks(folder, 'page.md')[1]?.code).toBe('const first: string = numbers[0]')
  expect(runnableBlocks(folder, 'page.md').map(({ line }) => line)).toEqual([3])
})

it('reports a block that is not TypeScript', () => {
  const complaints = typeComplaints([codeBlocks(folderWith('```ts\nconst = 1\n```\n'), 'page.md')])
  expect(complaints[0]).toMatch(/^page\.md:2: TS1134: /)
})
