import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import type { JournalEvent } from '@vitrine/protocol'
import { expect, it, onTestFinished } from 'vitest'
import { between, randomFrom } from '../../conformance/src/crash/random.ts'
import { numbers } from '../../conformance/src/events/coverage.ts'
import { scale } from '../../conformance/src/scale.ts'

const bot = fileURLToPath(new URL('../pull-request-bot/pull-request-bot.ts', import.meta.url))

function newFolder(): string {
  // Not below /tmp: a sandbox has a /tmp of its own.
  const data = mkdtempSync('/var/tmp/pull-request-bot-')
  onTestFinished(() => rmSync(data, { recursive: true, force: true }))
  return data
}

function start(data: string) {
  const { PATH = '', HOME = '', NODE_COMPILE_CACHE = '' } = process.env
  const child = spawn(process.execPath, ['--conditions=source', bot, data], {
    env: { PATH, HOME, NODE_COMPILE_CACHE },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const ended = Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]).then(
    ([stdout, stderr, [status]]) => ({ stdout, stderr, status }),
  )
  return { child, ended }
}

/** Kills a run of the bot when its audit file has grown by this many bytes, and some time later. */
async function killAfter(data: string, bytes: number, delayMs: number): Promise<'killed' | 'finished'> {
  const audit = join(data, 'audit.jsonl')
  const sizeOf = () => (existsSync(audit) ? statSync(audit).size : 0)
  const until = sizeOf() + bytes
  const { child, ended } = start(data)
  while (child.exitCode === null && sizeOf() < until) await sleep(2)
  await sleep(delayMs)
  child.kill('SIGKILL')
  const { status, stderr } = await ended
  if (status !== null) expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
  return status === null ? 'killed' : 'finished'
}

/** Runs the bot to its end, and checks that every step was done once and that the audit file has every event. */
async function expectDone(data: string, when: string): Promise<void> {
  const { stdout, stderr, status } = await start(data).ended
  expect({ status, stderr }, when).toEqual({ status: 0, stderr: '' })
  expect(stdout, when).toMatch(/begin\nplan\ncode\ntest\n\n$/)
  const patch = readFileSync(join(data, 'pull-request.patch'), 'utf8')
  expect(patch.match(/^Subject: .*$/gm), when).toEqual([
    'Subject: [PATCH 1/3] plan',
    'Subject: [PATCH 2/3] code',
    'Subject: [PATCH 3/3] test',
  ])
  expect(patch.match(/^\+(plan|code|test)$/gm), when).toEqual(['+plan', '+code', '+test'])
  const lines = readFileSync(join(data, 'audit.jsonl'), 'utf8').trimEnd().split('\n')
  const events = lines.map((line) => JSON.parse(line) as JournalEvent)
  for (const journal of ['host', 'bot']) {
    // A kill may repeat complete lines, which `journal` and `seq` tell.
    const seqs = [...new Set(events.filter((event) => event.journal === journal).map(({ seq }) => seq))]
    expect(seqs, when).toEqual(numbers(1, seqs.length))
    expect(seqs.length, when).toBeGreaterThan(0)
  }
}

it(
  `a bot that is killed ${scale.botKills} times at random points does each step once and leaves one gapless audit file`,
  async () => {
    const seed = Date.now() % 2 ** 31
    const random = randomFrom(seed)
    let data = newFolder()
    for (let kills = 0; kills < scale.botKills; ) {
      const way = await killAfter(data, between(random, 0, 60_000), between(random, 0, 150))
      if (way === 'killed') kills += 1
      else {
        // It was quicker: begin with another one.
        await expectDone(data, `seed ${seed}, ${kills} kills`)
        data = newFolder()
      }
    }
    await expectDone(data, `seed ${seed}, ${scale.botKills} kills`)
  },
  scale.botKills * 60_000,
)
