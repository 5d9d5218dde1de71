import { setTimeout as sleep } from 'node:timers/promises'
import type { JournalItem, Page, ReadOptions } from '@vitrine/protocol'
import { expect, it, onTestFinished } from 'vitest'
import { between, type Random, randomFrom } from '../src/crash/random.ts'
import { allItems } from '../src/events/all-items.ts'
import { numbers } from '../src/events/coverage.ts'
import { message } from '../src/events/inputs.ts'
import { newMark } from '../src/sandbox/marks.ts'
import { scale } from '../src/scale.ts'
import { workFault } from '../src/store/model/invariants.ts'
import { background } from '../src/waiting/background.ts'
import { eventually } from '../src/waiting/within.ts'
import { differenceOf, holeFaults, outputFaults, recordFaults, turnFaults } from './crash-faults.ts'
import { completes, type PromptedTurn, sessionId, Work, write } from './crash-load.ts'
import { isMessage, TailFollower } from './follower.ts'
import { KillableDaemon } from './killable-daemon.ts'
import { countProcesses } from './sandboxes.ts'

const lastMessage = 'the end'

it.each([
  { isolation: 'none', kills: scale.daemonKills },
  { isolation: 'bubblewrap', kills: scale.isolatedDaemonKills },
] as const)(
  'a daemon with isolation $isolation loses no acknowledged event when it is killed $kills times under load',
  async ({ isolation, kills }) => {
    const seed = Date.now() % 2 ** 31
    const random = randomFrom(seed)
    const daemon = await KillableDaemon.at(isolation, random)
    const connect = () => {
      const client = daemon.connect()
      onTestFinished(() => client.close())
      return client
    }
    await daemon.start()
    const sandbox = await connect().create()
    // These followers live through all kills and are never recreated.
    const storeFollower = new TailFollower(connect().events(), lastMessage)
    const sandboxFollowers = numbers(1, 3).map(
      () => new TailFollower(connect().journal(sandbox.id).tail(), lastMessage),
    )
    const stopWriting = new AbortController()
    onTestFinished(() => stopWriting.abort())
    const writers = numbers(1, 3).map((name) =>
      background(write(sandbox, `writer ${name}`, stopWriting.signal)),
    )

    const turns: PromptedTurn[] = []
    const marks: string[] = []
    for (const round of numbers(1, kills)) {
      const work = new Work(sandbox, newMark())
      marks.push(work.mark)
      if (round % 2 === 0) await killAnyTime(daemon, work, random)
      else await killInTheMiddle(daemon, work, [storeFollower, ...sandboxFollowers], random)
      if (round % 5 === 0) await daemon.killDuringStart(between(random, 0, 1_200))
      await daemon.start()
      // A daemon kills the processes left by its predecessors before it listens.
      const alive = marks.filter((mark) => countProcesses(mark) > 0)
      expect(alive, `round ${round}, seed ${seed}`).toEqual([])
      const prompted = await work.promptedTurn()
      if (prompted !== undefined) turns.push(prompted)
    }

    const session = await sandbox.sessions.resume(sessionId)
    expect(await session.prompt('/say here again')).toMatchObject({ outcome: 'ok' })
    stopWriting.abort()
    const records = (await Promise.all(writers)).flat()
    await sandbox.record([message(lastMessage)])
    for (const follower of [storeFollower, ...sandboxFollowers]) await follower.end()

    const stored = upToTheEnd(await allItems(sandbox.journal, { limit: 10_000 }))
    const storedInStore = upToTheEnd(await allItems({ read: readAll(daemon) }, { limit: 10_000 }))
    const faults = [
      ...sandboxFollowers.flatMap(({ items }) => differenceOf(items, stored)),
      ...differenceOf(storeFollower.items, storedInStore),
      ...holeFaults(storedInStore),
      ...recordFaults(stored, records),
      ...turnFaults(stored, turns),
      ...outputFaults(stored),
    ]
    expect(faults, `seed ${seed}`).toEqual([])
    await sandbox.lifecycle.shutdown()
    expect(workFault(await allItems(sandbox.journal, { limit: 10_000 })), `seed ${seed}`).toBeUndefined()

    // Without enough work the test would prove nothing.
    expect(records.filter(({ isAcknowledged }) => isAcknowledged).length).toBeGreaterThan(kills * 10)
    expect(turns.filter(({ result }) => result !== undefined).length).toBeGreaterThanOrEqual(kills / 2)
  },
  300_000,
)

/** Kills the daemon while all followers read, a process runs, and the agent has started its turn. */
async function killInTheMiddle(
  daemon: KillableDaemon,
  work: Work,
  followers: readonly TailFollower[],
  random: Random,
): Promise<void> {
  await work.begin()
  const allSee = () => followers.every((follower) => follower.sawTurn(work.turn))
  await eventually('every reader to see the turn', allSee, 60_000)
  expect(countProcesses(work.mark)).toBeGreaterThan(0)
  await sleep(between(random, 0, 600))
  await daemon.kill()
}

/** Kills the daemon at a random moment while the work starts. */
async function killAnyTime(daemon: KillableDaemon, work: Work, random: Random): Promise<void> {
  const beginning = background(completes(work.begin()))
  await sleep(between(random, 0, 1_500))
  await daemon.kill()
  await beginning
}

/** The client reads pages of one journal only; pages of the whole store need the route itself. */
function readAll(daemon: KillableDaemon): (options?: ReadOptions) => Promise<Page> {
  return async ({ after, limit } = {}) => {
    const query = new URLSearchParams({ scope: 'all', limit: String(limit), ...(after && { after }) })
    return (await (await daemon.fetch(`/v1/events?${query}`)).json()) as Page
  }
}

function upToTheEnd(items: readonly JournalItem[]): readonly JournalItem[] {
  return items.slice(0, items.findIndex((item) => isMessage(item, lastMessage)) + 1)
}
