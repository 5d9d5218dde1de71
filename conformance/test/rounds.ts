import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { randomHex } from '@vitrine/protocol'
import { expect, onTestFinished } from 'vitest'
import type { Remains } from './remains.ts'

/** Runs a program of rounds in a new process with its own TMPDIR, and returns what it prints after each part of them. */
export async function rounds(program: string, args: readonly string[]): Promise<readonly Remains[]> {
  const prefix = `vitrine-rounds-${randomHex(6)}-`
  const temporary = mkdtempSync(join(tmpdir(), prefix))
  onTestFinished(() => {
    rmSync(temporary, { recursive: true, force: true })
    for (const name of readdirSync('/var/tmp'))
      if (name.startsWith(prefix)) rmSync(`/var/tmp/${name}`, { recursive: true, force: true })
  })
  const script = fileURLToPath(new URL(program, import.meta.url))
  const child = spawn(process.execPath, ['--expose-gc', '--conditions=source', script, ...args, prefix], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, TMPDIR: temporary },
  })
  const [output, [code]] = await Promise.all([text(child.stdout), once(child, 'exit')])
  expect(code).toBe(0)
  return output
    .trim()
    .split('\n')
    .map((line): Remains => JSON.parse(line))
}

/** The trend of the heap over all rounds, as a part of its size at the start: the median slope between all pairs. */
export function growth(remains: readonly Remains[]): number {
  const slopes = remains.flatMap((one, index) =>
    remains.slice(index + 1).map((other) => (other.heapBytes - one.heapBytes) / (other.rounds - one.rounds)),
  )
  const slope = slopes.toSorted((one, other) => one - other)[Math.floor(slopes.length / 2)] ?? 0
  const [first] = remains
  return (slope * (remains.at(-1)?.rounds ?? 0)) / (first?.heapBytes ?? 1)
}
