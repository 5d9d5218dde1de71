import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const timeout = 120_000

/** Runs an example in a process of its own, as a user does. Returns its output; throws if it fails or prints to stderr. */
export async function runExample(path: string, data: string): Promise<string> {
  const example = fileURLToPath(new URL(`../${path}`, import.meta.url))
  const { PATH = '', HOME = '', NODE_COMPILE_CACHE = '' } = process.env
  const options = { env: { PATH, HOME, NODE_COMPILE_CACHE }, timeout }
  const program = ['--conditions=source', example, data]
  const { stdout, stderr } = await promisify(execFile)(process.execPath, program, options)
  if (stderr !== '') throw new Error(`${path} printed to stderr: ${stderr}`)
  return stdout
}
