import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'

const main = fileURLToPath(new URL('../src/main.ts', import.meta.url))

describe('npm run bench', () => {
  it('lists what it measures, with the bars', async () => {
    const { code, out } = await bench('list')
    expect(code).toBe(0)
    expect(out).toMatch(/agents endings .*≤ 300 ms; ≤ 3000 ms/)
  })

  it('prints help with examples', async () => {
    const { code, out } = await bench('--help')
    expect(code).toBe(0)
    expect(out).toContain('npm run bench -- all --tiny')
  })

  it('refuses an unknown benchmark, and names the known ones', async () => {
    const { code, error } = await bench('jornal')
    expect(code).toBe(2)
    expect(error).toContain('Unknown benchmark "jornal". Known benchmarks: all, journal, crash,')
  })

  it('ends its measurements when it is interrupted, and exits with 1', async () => {
    const child = start('agents', '--tiny')
    const out = text(child.stdout)
    const exited = once(child, 'exit')
    for await (const output of child.stderr) if (String(output).includes('agents: burst')) break
    child.kill('SIGINT')
    expect(await exited).toEqual([1, null])
    expect(await out).toContain('agents burst was interrupted.')
  })
})

async function bench(...args: readonly string[]) {
  const child = start(...args)
  const exited = once(child, 'exit')
  const [out, error] = await Promise.all([text(child.stdout), text(child.stderr)])
  const [code] = await exited
  return { code, out, error }
}

function start(...args: readonly string[]) {
  const flags = ['--conditions=source', '--disable-warning=ExperimentalWarning']
  return spawn(process.execPath, [...flags, main, ...args], { stdio: ['ignore', 'pipe', 'pipe'] })
}
