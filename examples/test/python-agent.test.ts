import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'

const run = fileURLToPath(new URL('../python-agent/run.ts', import.meta.url))

it('an agent in Python answers in a sandbox', () => {
  const { PATH = '', HOME = '', NODE_COMPILE_CACHE = '' } = process.env
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    ['--conditions=source', run, 'one two three four'],
    { env: { PATH, HOME, NODE_COMPILE_CACHE }, encoding: 'utf8', timeout: 50_000 },
  )
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
  expect(stdout).toBe('Let me count. 4 words.')
})
