import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type CodeBlock, codeBlocks, documentPages } from '../docs/test/code-blocks.ts'
import { root } from './tools.ts'

/** A sentence for each type error in a code block of the documents. */
export function documentTypeComplaints(): string[] {
  return typeComplaints(documentPages(root).map((page) => codeBlocks(root, page)))
}

/**
 * Compiles the blocks of pages with the strict settings of the repository. A fragment with imports stands alone, like a
 * program; one without continues the program before it on its page.
 */
export function typeComplaints(pages: readonly (readonly CodeBlock[])[]): string[] {
  mkdirSync(join(root, '.tmp'), { recursive: true })
  const folder = mkdtempSync(join(root, '.tmp', 'document-types-'))
  try {
    const sources = pages.flatMap(sourcesOf)
    for (const [index, { text }] of sources.entries()) writeFileSync(join(folder, `${index}.ts`), text)
    writeFileSync(join(folder, 'package.json'), '{ "type": "module" }')
    writeFileSync(
      join(folder, 'tsconfig.json'),
      JSON.stringify({ extends: '../../tsconfig.json', include: ['*.ts'], exclude: [] }),
    )
    return complaintsIn(compile(folder), sources)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

interface Source {
  readonly block: CodeBlock
  readonly text: string
  /** The lines of `text` before the first line of the block. */
  readonly before: number
}

function sourcesOf(blocks: readonly CodeBlock[]): Source[] {
  let program = ''
  return blocks.map((block) => {
    if (block.kind === 'program') program = block.code
    const standsAlone = block.kind === 'program' || /^import /m.test(block.code)
    if (standsAlone) return { block, text: block.code, before: 0 }
    // In a scope of its own, so that it may use the same names again.
    return { block, text: `${program}\n{\n${block.code}\n}\n`, before: program.split('\n').length + 1 }
  })
}

function compile(folder: string): string {
  const tsc = join(root, 'node_modules/typescript/bin/tsc')
  const { stdout, stderr } = spawnSync(process.execPath, [tsc, '-p', folder, '--pretty', 'false'], {
    cwd: folder,
    encoding: 'utf8',
  })
  return stdout + stderr
}

/** The errors with the page and the line instead of the compiled file. The check of all types has those of the sources. */
function complaintsIn(output: string, sources: readonly Source[]): string[] {
  // The further lines of an error, which explain it, are indented.
  return output
    .split(/\n(?! )/)
    .filter((error) => error !== '')
    .flatMap((error) => {
      const [, file, row, message] = /^(\d+)\.ts\((\d+),\d+\): error (.+)$/s.exec(error) ?? []
      const source = sources[Number(file)]
      if (source === undefined) return error.startsWith('../') ? [] : [error]
      const { block, before } = source
      // The program before a fragment has its own complaints.
      return Number(row) > before ? [`${block.file}:${block.line + Number(row) - before}: ${message}`] : []
    })
}
