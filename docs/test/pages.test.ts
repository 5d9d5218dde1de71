import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { documentPages, runnableBlocks } from './code-blocks.ts'

const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))))
interface Run {
  readonly status: number | null
  readonly stdout: string
  readonly stderr: string
}

/** Runs a code block in a new folder inside the repository, so that packages resolve. */
async function run(code: string): Promise<Run> {
  mkdirSync(join(root, '.tmp'), { recursive: true })
  const folder = mkdtempSync(join(root, '.tmp', 'page-'))
  try {
    writeFileSync(join(folder, 'block.ts'), code)
    mkdirSync(join(folder, 'data'))
    const child = spawn(process.execPath, ['--conditions=source', 'block.ts'], {
      cwd: folder,
      stdio: ['ignore', 'pipe', 'pipe'],
      timeout: 50_000,
    })
    const closed = once(child, 'close')
    const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)])
    const [status] = await closed
    return { status, stdout, stderr }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** The output that a block promises in comments: `console.log(x) // → expected`. */
function promisedLines(code: string): string[] {
  return [...code.matchAll(/(?:^| )\/\/ → (.+)$/gm)].map(([, expected]) => expected!)
}

describe.concurrent.each(documentPages(root))('%s', (page) => {
  const blocks = runnableBlocks(root, page)

  it.each(blocks.map(({ line, code }) => [line, code] as const))(
    'the code at line %i runs and prints the output in its comments',
    async (_, code) => {
      const { status, stdout, stderr } = await run(code)
      expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
      for (const promised of promisedLines(code)) expect(stdout).toContain(promised)
    },
  )

  it('links only to files that exist', () => {
    const content = readFileSync(join(root, page), 'utf8')
    for (const [, target] of content.matchAll(/\]\((?!https?:)([^)#]+)[^)]*\)/g)) {
      expect(globSync(join(dirname(join(root, page)), target!)), target).toHaveLength(1)
    }
  })
})

it('the README example has at most 15 lines of code', () => {
  const [example] = runnableBlocks(root, 'README.md')
  expect(example!.code.split('\n').filter((line) => line.trim() !== '').length).toBeLessThanOrEqual(15)
})
