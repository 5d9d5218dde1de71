import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, it, onTestFinished } from 'vitest'
import { runnableBlocks } from './code-blocks.ts'

const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))))

it('the examples of the README pass the strict type check of the repository', async () => {
  mkdirSync(join(root, '.tmp'), { recursive: true })
  const folder = mkdtempSync(join(root, '.tmp', 'readme-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const blocks = runnableBlocks(join(root, 'README.md'))
  expect(blocks).toHaveLength(3)
  for (const { line, code } of blocks) writeFileSync(join(folder, `line-${line}.ts`), code)
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }')
  writeFileSync(
    join(folder, 'tsconfig.json'),
    JSON.stringify({ extends: '../../tsconfig.json', include: ['*.ts'], exclude: [] }),
  )
  const tsc = join(root, 'node_modules/typescript/bin/tsc')
  const run = promisify(execFile)(process.execPath, [tsc, '-p', folder], { cwd: folder })
  const output = await run.then(
    ({ stdout }) => stdout,
    ({ stdout }: { stdout: string }) => stdout,
  )
  expect(output).toBe('')
})
