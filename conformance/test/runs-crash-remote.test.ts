import type { JournalEvent } from '@vitrine/protocol'
import { openSandboxRun, type SandboxRun, SandboxRunError } from '@vitrine/runtime'
import { expect, it, onTestFinished } from 'vitest'
import { between, randomFrom } from '../src/crash/random.ts'
import { allItems } from '../src/events/all-items.ts'
import { eventsOf, numbers } from '../src/events/coverage.ts'
import { scale } from '../src/scale.ts'
import { withTimeLimit } from '../src/waiting/within.ts'
import { KillableDaemon } from './killable-daemon.ts'
import { turnRecordFaults } from './turn-faults.ts'

const turns = numbers(1, 3)
const session = { permissions: 'allow', env: { VITRINE_DEMO_PACE: '0' } } as const
/** Each turn leaves a line that tells that its work was done. */
const agentRun = {
  name: 'worker',
  profile: { agent: 'demo' },
  taskToPrompt: (task: string) => `/stream 5 16\n/run echo ${task} >> ran.txt\n/say done`,
}
const deliverable = { kind: 'events', fromEvents: () => 'done' } as const

/** Codes of turns that a killed daemon cuts. Only those that it did not accept are not `interrupted`. */
const cut = ['interrupted', 'connection_failed', 'session_closed']

/** The outcome of a turn, or the code of its error. */
function ending(turn: Promise<unknown>): Promise<string> {
  return turn.then(
    () => 'ok',
    (error: unknown) => {
      if (error instanceof SandboxRunError) return error.code
      throw error
    },
  )
}

/** Every run has one start and one end, and a run that another continues is on record. */
function runFaults(events: readonly JournalEvent[]): string[] {
  const open = new Set<string>()
  const known = new Set<string>()
  const faults: string[] = []
  for (const { type, run = '', data } of events) {
    if (type === 'run.started') {
      if (known.has(run)) faults.push(`${run} started twice`)
      if (data.continues !== undefined && !known.has(data.continues))
        faults.push(`${run} continues ${data.continues}, which is not on record`)
      known.add(run)
      open.add(run)
    } else if (type === 'run.finished' && !open.delete(run)) faults.push(`${run} ended twice`)
  }
  return [...faults, ...[...open].map((run) => `${run} did not end`)]
}

it(
  `a run whose daemon is killed at one of ${scale.runKills} random points is interrupted and goes on, and no turn runs twice`,
  async () => {
    const seed = Date.now() % 2 ** 31
    const random = randomFrom(seed)
    const daemon = await KillableDaemon.at('none', random)
    const client = daemon.connect()
    onTestFinished(() => client.close())
    await daemon.start()
    const endings: string[] = []
    const continued: unknown[] = []
    for (const round of numbers(1, scale.runKills)) {
      // One turn has about 40 events; the first kill comes in the middle of a turn.
      const killAt = round === 1 ? 50 : between(random, 1, 130)
      let seen = 0
      const killed = Promise.withResolvers<void>()
      const onSandboxEvent = () => {
        seen += 1
        if (seen === killAt) killed.resolve()
      }
      const run: SandboxRun<string> = await openSandboxRun(
        client,
        { agentRun, session, onSandboxEvent },
        deliverable,
      )
      const first = (async () => {
        const ends: string[] = []
        for (const turn of turns) ends.push(await ending(run.turn(`${round}-${turn}`)))
        // A point after the last event: the daemon is killed between two turns.
        killed.resolve()
        return ends
      })()
      const restarted = killed.promise.then(async () => {
        await daemon.kill()
        await daemon.start()
      })
      const [ends] = await withTimeLimit(`round ${round}`, Promise.all([first, restarted]), 120_000)
      expect(['ok', ...cut], `seed ${seed}`).toEqual(expect.arrayContaining(ends))
      endings.push(...ends)

      const { box, sessionId } = run
      const resumeFrom = { sandboxId: box.id, sessionId }
      const goesOn =
        round % 2 === 0
          ? run
          : await openSandboxRun(daemon.connect(), { agentRun, session, resumeFrom }, deliverable)
      expect(await ending(goesOn.turn(`${round}-last`)), `seed ${seed}`).toBe('ok')
      // A sandbox that the run owns is destroyed by its end; this one is looked at first.
      const ran = await new Response(await box.files.read('ran.txt')).text()
      await goesOn.close()
      await run.close()
      const events = eventsOf(await allItems(client.journal(box.id), { limit: 10_000 }))
      expect([...runFaults(events), ...turnRecordFaults(events, [])], `seed ${seed}`).toEqual([])
      const lines = ran.split('\n').filter((line) => line !== '')
      expect(lines.length, `seed ${seed}: ${ran}`).toBe(new Set(lines).size)
      expect(lines.at(-1)).toBe(`${round}-last`)
      continued.push(...events.flatMap(({ type, data }) => (type === 'run.started' ? [data.continues] : [])))
    }
    // Without turns that were cut and runs that went on the test would prove nothing.
    expect(endings).toEqual(expect.arrayContaining(['ok', 'interrupted']))
    expect(continued.filter((run) => run !== undefined).length).toBeGreaterThan(0)
  },
  60_000 + scale.runKills * 20_000,
)
