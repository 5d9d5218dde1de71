import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { documentPages, runnableBlocks } from './code-blocks.ts'

const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))))
const script = fileURLToPath(new URL('run-blocks.ts', import.meta.url))
const mark = '--- end of a program:'

interface Run {
  readonly outcome: string | undefined
  readonly stdout: string
  readonly stderr: string
}

/** Runs the programs of a page, each in a new folder inside the repository, so that packages resolve. */
async function run(programs: readonly string[]): Promise<Run[]> {
  mkdirSync(join(root, '.tmp'), { recursive: true })
  const folders = programs.map((code) => {
    const folder = mkdtempSync(join(root, '.tmp', 'page-'))
    writeFileSync(join(folder, 'block.ts'), code)
    mkdirSync(join(folder, 'data'))
    return folder
  })
  try {
    const child = spawn(process.execPath, ['--conditions=source', script, mark, ...folders], {
      stdio: ['ignore', 'pipe', 'pipe'],
      timeout: 50_000 * programs.length,
    })
    const closed = once(child, 'close')
    const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)])
    const [status] = await closed
    const [printed, errors] = [partsOf(stdout), partsOf(stderr)]
    return programs.map((_, index) => ({
      // A program that keeps the process from ending fails as well.
      outcome: status === 0 ? printed[index]?.outcome : `status ${status}`,
      stdout: printed[index]?.text ?? stdout,
      stderr: errors[index]?.text ?? stderr,
    }))
  } finally {
    for (const folder of folders) rmSync(folder, { recursive: true, force: true })
  }
}

/** The text before each mark, and the outcome after it. */
function partsOf(output: string): { readonly text: string; readonly outcome: string }[] {
  const [first = '', ...rest] = output.split(`${mark} `)
  const texts = [first, ...rest.map((part) => part.slice(part.indexOf('\n') + 1))]
  return rest.map((part, index) => ({ text: texts[index] ?? '', outcome: part.slice(0, part.indexOf('\n')) }))
}

/** The output that a block promises in comments: `console.log(x) // → expected`. */
function promisedLines(code: string): string[] {
  return [...code.matchAll(/(?:^| )\/\/ → (.+)$/gm)].map(([, expected]) => expected!)
}

describe.concurrent.each(documentPages(root))('%s', (page) => {
  const blocks = runnableBlocks(root, page)
  let runs: Promise<Run[]> | undefined

  it.each(blocks.map(({ line, code }, index) => [line, code, index] as const))(
    'the code at line %i runs and prints the output in its comments',
    async (_, code, index) => {
      runs ??= run(blocks.map(({ code }) => code))
      const { outcome, stdout, stderr } = (await runs)[index]!
      expect({ outcome, stderr }).toEqual({ outcome: 'ok', stderr: '' })
      for (const promised of promisedLines(code)) expect(stdout).toContain(promised)
    },
    50_000 * blocks.length,
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
