import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, rmSync } from 'node:fs'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { randomHex } from '@vitrine/protocol'
import { expect, it, onTestFinished } from 'vitest'
import { scale } from '../src/scale.ts'
import type { Remains } from './script-rounds.ts'

const program = fileURLToPath(new URL('script-rounds.ts', import.meta.url))
/** The last sandboxes may still be referenced by a timer or a settled promise. */
const maxAlive = 3

it.each(['script', 'in-process', 'engine'])(
  'memory, descriptors and directories are back after many %s sandboxes were created and destroyed',
  { timeout: 60_000 + scale.scriptSandboxes * 2_000 },
  async (kind) => {
    const prefix = `vitrine-rounds-${randomHex(6)}-`
    onTestFinished(() => {
      for (const name of readdirSync('/var/tmp'))
        if (name.startsWith(prefix)) rmSync(`/var/tmp/${name}`, { recursive: true, force: true })
    })
    const remains = await rounds(kind, scale.scriptSandboxes, prefix)
    const [first] = remains
    const last = remains.at(-1)
    expect(last?.rounds).toBe(scale.scriptSandboxes)
    for (const { alive } of remains) expect(alive).toBeLessThanOrEqual(maxAlive)
    expect(last?.descriptors).toBe(first?.descriptors)
    expect(last?.directories).toBe(first?.directories)
    expect(growth(remains)).toBeLessThan(0.1)
  },
)

async function rounds(kind: string, count: number, prefix: string): Promise<readonly Remains[]> {
  const child = spawn(
    process.execPath,
    ['--expose-gc', '--conditions=source', program, kind, String(count), prefix],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  )
  const [output, [code]] = await Promise.all([text(child.stdout), once(child, 'exit')])
  expect(code).toBe(0)
  return output
    .trim()
    .split('\n')
    .map((line): Remains => JSON.parse(line))
}

/** The trend of the heap over all rounds, as a part of its size at the start: the median slope between all pairs. */
function growth(remains: readonly Remains[]): number {
  const slopes = remains.flatMap((one, index) =>
    remains.slice(index + 1).map((other) => (other.heapBytes - one.heapBytes) / (other.rounds - one.rounds)),
  )
  const slope = slopes.toSorted((one, other) => one - other)[Math.floor(slopes.length / 2)] ?? 0
  const [first] = remains
  return (slope * (remains.at(-1)?.rounds ?? 0)) / (first?.heapBytes ?? 1)
}
