import { execFileSync, spawnSync } from 'node:child_process'
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { describe, expect, it, onTestFinished } from 'vitest'
import { scale } from '../../../../conformance/src/scale.ts'
import type { Isolation } from '../../src/index.ts'
import { openSandbox } from '../fixtures/sandbox.ts'
import { attempt, attempts, fileAttempts, type Tally } from './fixtures/attempts.ts'
import { snapshot } from './fixtures/snapshot.ts'

const isRoot = process.geteuid?.() === 0
const tries = scale.raceTries

/** A folder of the host with the files that an escape would reach. */
function canaryFolder(): string {
  const parent = mkdtempSync('/var/tmp/vitrine-files-canary-')
  onTestFinished(() => rmSync(parent, { recursive: true, force: true }))
  const folder = join(parent, 'canary')
  for (const name of ['sub', 'victim', 'kept']) mkdirSync(join(folder, name), { recursive: true })
  for (const name of ['f', 'sub/f', 'victim/f', 'canary-only', 'kept/0'])
    writeFileSync(join(folder, name), 'CANARY')
  if (isRoot) chownSync(join(folder, 'f'), 12_345, 12_345)
  chmodSync(join(folder, 'f'), 0o604)
  return folder
}

async function race(isolation: Isolation): Promise<Tally> {
  const sandbox = await openSandbox({ isolation, watch: false })
  const canary = canaryFolder()
  const depths = ['d', 'w/d', 'w/x/y/d']
  const folders = [...depths, 'e', 'c']
  const pairs = [
    ...depths.map((at) => `d:${at}:${at}.link:${canary}`),
    'd:e:e.link:/etc',
    `d:c:c.link:../../../../../../../../../../..${canary}`,
    `f:file:file.link:${canary}/f`,
    `f:w/x/file:w/x/file.link:${canary}/canary-only`,
  ]
  execFileSync('gcc', [
    '-O1',
    '-o',
    join(sandbox.root, 'swapper'),
    fileURLToPath(new URL('fixtures/swapper.c', import.meta.url)),
  ])
  await sandbox.exec('mkdir -p w/x/y kept; for i in 0 1 2 3; do echo x > kept/$i; done')
  const before = [snapshot(join(canary, '..')), readdirSync('/etc').toSorted()]
  const swapper = await sandbox.spawn(['./swapper', ...pairs])
  while (!existsSync(join(sandbox.root, 'ready'))) await sleep(5)
  const tally: Tally = { inside: 0, outside: 0, others: {}, escapes: [] }
  for (let round = 0; round < tries; round += 1) {
    const at = folders[round % folders.length]!
    const [name, go] = attempts[Math.floor(round / folders.length) % attempts.length]!
    await attempt(tally, name, at, () => go(sandbox.files, at, round))
    if (round % 5 !== 0) continue
    const file = round % 2 === 0 ? 'file' : 'w/x/file'
    const [what, goThere] = fileAttempts[Math.floor(round / 5) % fileAttempts.length]!
    await attempt(tally, what, file, () => goThere(sandbox.files, file, round))
  }
  writeFileSync(join(sandbox.root, 'stop'), '')
  await swapper.exit
  expect([snapshot(join(canary, '..')), readdirSync('/etc').toSorted()]).toEqual(before)
  return tally
}

describe.skipIf(process.platform !== 'linux' || spawnSync('gcc', ['--version']).status !== 0)(
  'names that are swapped for links as fast as a program can',
  () => {
    it.each(['none', 'bubblewrap'] as const)(
      'concurrent swaps of links never redirect a file operation outside the workspace: %s',
      async (isolation) => {
        const { inside, outside, others, escapes } = await race(isolation)
        expect(escapes.slice(0, 5)).toEqual([])
        const allowed = [
          'file_not_found',
          'file_exists',
          'file_busy',
          'file_is_directory',
          'file_not_directory',
          'file_not_regular',
          'directory_not_empty',
          'link_loop',
        ]
        expect(Object.keys(others).filter((code) => !allowed.includes(code))).toEqual([])
        // The race happened only if both outcomes were seen.
        expect(inside).toBeGreaterThan(tries / 10)
        expect(outside).toBeGreaterThan(tries / 10)
      },
    )
  },
)
