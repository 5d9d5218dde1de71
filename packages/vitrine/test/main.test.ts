import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { version } from '@vitrine/protocol'
import { expect, it } from 'vitest'

const main = fileURLToPath(new URL('../src/main.ts', import.meta.url))

it('runs the command with the arguments of the process', async () => {
  const args = ['--conditions=source', '--disable-warning=ExperimentalWarning', main, '--version']
  const { stdout, stderr } = await promisify(execFile)(process.execPath, args, { cwd: '/' })
  expect({ stdout, stderr }).toEqual({ stdout: `${version}\n`, stderr: '' })
})
