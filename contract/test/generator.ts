import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const run = promisify(execFile)
const folder = fileURLToPath(new URL('../generated-client', import.meta.url))
const document = fileURLToPath(new URL('../../packages/server/openapi.json', import.meta.url))
const mark = join(folder, 'node_modules', '.vitrine-installed')

/** Installs the generator with the TypeScript that it runs on, unless this lock file was installed before. */
export async function installGenerator(): Promise<void> {
  const lock = createHash('sha256')
    .update(readFileSync(join(folder, 'package-lock.json')))
    .digest('hex')
  if (existsSync(mark) && readFileSync(mark, 'utf8') === lock) return
  console.error(`Installing the client generator in ${folder} (once, about ten seconds) …`)
  await run('npm', ['ci', '--ignore-scripts', '--loglevel=error', '--no-audit', '--no-fund'], { cwd: folder })
  writeFileSync(mark, lock)
}

/** Generates the client's types from the committed document. */
export async function generateClient(): Promise<void> {
  await tool('openapi-typescript/bin/cli.js', document, '--output', 'generated/api.d.ts')
}

/** The compiler's errors for the program; empty when it compiles. */
export async function compileProgram(): Promise<string> {
  return tool('typescript/bin/tsc', '--project', '.').catch((error: { stdout?: string }) => {
    if (!error.stdout) throw error
    return error.stdout
  })
}

/** Runs the program against a daemon in its own process and returns its report. */
export async function runProgram(url: string, token: string): Promise<unknown> {
  const { stdout } = await run(process.execPath, ['main.ts', url, token], { cwd: folder })
  return JSON.parse(stdout)
}

async function tool(entry: string, ...args: readonly string[]): Promise<string> {
  const path = join(folder, 'node_modules', entry)
  return (await run(process.execPath, [path, ...args], { cwd: folder })).stdout
}
