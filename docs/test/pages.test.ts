import { spawnSync } from 'node:child_process'
import { globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { runnableBlocks } from './code-blocks.ts'

const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))))
const pages = ['README.md', 'CONTRIBUTING.md', 'ARCHITECTURE.md', ...globSync('docs/*.md', { cwd: root })]

/** Inside the repository, so that packages are found, and in a folder of its own. */
function run(code: string): { status: number | null; stdout: string; stderr: string } {
  mkdirSync(join(root, '.tmp'), { recursive: true })
  const folder = mkdtempSync(join(root, '.tmp', 'page-'))
  try {
    writeFileSync(join(folder, 'block.ts'), code)
    mkdirSync(join(folder, 'data'))
    return spawnSync(process.execPath, ['--conditions=source', 'block.ts'], {
      cwd: folder,
      encoding: 'utf8',
      timeout: 30_000,
    })
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** What a block says it prints: `console.log(x) // → expected`. */
function promisedLines(code: string): string[] {
  return [...code.matchAll(/(?:^| )\/\/ → (.+)$/gm)].map(([, expected]) => expected!)
}

describe.each(pages)('%s', (page) => {
  const blocks = runnableBlocks(join(root, page))

  it.runIf(blocks.length > 0).each(blocks.map(({ line, code }) => [line, code] as const))(
    'the code at line %i runs and prints what it promises',
    (_, code) => {
      const { status, stdout, stderr } = run(code)
      expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
      for (const promised of promisedLines(code)) expect(stdout).toContain(promised)
    },
  )

  it('links only to files that exist', () => {
    const text = readFileSync(join(root, page), 'utf8')
    for (const [, target] of text.matchAll(/\]\((?!https?:)([^)#]+)[^)]*\)/g)) {
      expect(globSync(join(dirname(join(root, page)), target!)), target).toHaveLength(1)
    }
  })
})

it('the README example has at most 15 lines of code', () => {
  const [example] = runnableBlocks(join(root, 'README.md'))
  expect(example!.code.split('\n').filter((line) => line.trim() !== '').length).toBeLessThanOrEqual(15)
})
