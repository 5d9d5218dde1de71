import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, it, onTestFinished } from 'vitest'
import { type Host, type HostUser, isRoot, openHost, reasonToSkip } from './fixtures/open-host.ts'
import { killIfThere, nameOf, parentOf, processesWith, withTimeLimit } from './fixtures/processes-of-host.ts'

const trees = 20
let words = 0

/** A unique number of seconds to sleep, which identifies the processes of a test. */
function newWord(): string {
  words += 1
  const word = `7${process.pid}.${String(words).padStart(4, '0')}`
  // Registered first, so that it runs last.
  onTestFinished(() => {
    for (const pid of processesWith(word)) killIfThere(pid)
  })
  return word
}

/** Scripts that start three processes each: one child, and processes that leave their session or parent. */
const shapes = (word: string) => [
  `sleep ${word} & sleep ${word} & exec sleep ${word}`,
  `setsid sleep ${word} & (setsid sleep ${word} &) ; exec sleep ${word}`,
  `(setsid sh -c 'trap "" HUP INT TERM QUIT; sleep ${word} & exec sleep ${word}' &) ; trap "" TERM; exec sleep ${word}`,
  `env -i sleep ${word} & env -i setsid sleep ${word} & exec sleep ${word}`,
]

/** A process that forked twice and cleared its environment, so that only a PID namespace or a cgroup finds it. */
const disappeared = (word: string) =>
  `(env -i setsid sh -c 'sleep ${word} & exec sleep ${word}' &) ; exec env -i sleep ${word}`

async function plant(
  host: Host,
  isolation: 'none' | 'bubblewrap',
  word: string,
  held: boolean,
): Promise<void> {
  const sandbox = await host.open({ isolation })
  const commands = held ? [...shapes(word), disappeared(word)] : shapes(word)
  for (let tree = 0; tree < trees; tree++) await sandbox.spawn(commands[tree % commands.length] ?? '')
  const grown = await withTimeLimit(30_000, () => processesWith(word).length >= 3 * trees)
  expect(grown, 'all trees have grown').toBeDefined()
}

const cases = (['bubblewrap', 'none'] as const).flatMap((isolation) =>
  (['self', 'ordinary'] as const).map((as) => [isolation, as] as const),
)

describe.each(cases)('with isolation %s, as %s', (isolation, as: HostUser) => {
  const skip = reasonToSkip(as)
  const held = isolation === 'bubblewrap' || (as === 'self' && isRoot)

  it.skipIf(skip)('kill -9 of the host leaves none of 20 trees alive after 3 s', async () => {
    const host = openHost({ as })
    onTestFinished(() => host.kill())
    const word = newWord()
    await plant(host, isolation, word, held)
    process.kill(host.pid, 'SIGKILL')
    expect(await withTimeLimit(3_000, () => processesWith(word).length === 0)).toBeDefined()
  })

  it.skipIf(skip)('^C in the terminal of the host leaves nothing either', async () => {
    const host = openHost({ as })
    onTestFinished(() => host.kill())
    const word = newWord()
    await plant(host, isolation, word, held)
    process.kill(-host.pid, 'SIGINT')
    expect(await withTimeLimit(3_000, () => processesWith(word).length === 0)).toBeDefined()
  })

  it.skipIf(skip)('closing ends a command that emptied its environment', async () => {
    const host = openHost({ as })
    onTestFinished(() => host.kill())
    const word = newWord()
    const sandbox = await host.open({ isolation })
    await sandbox.spawn(`exec env -i sleep ${word}`)
    expect(
      await withTimeLimit(30_000, () => processesWith(word).some((pid) => nameOf(pid) === 'sleep')),
    ).toBeDefined()
    await host.close()
    expect(processesWith(word)).toEqual([])
  })

  it.skipIf(skip)('kill -9 of the host ends a command that emptied its environment', async () => {
    const host = openHost({ as })
    onTestFinished(() => host.kill())
    const word = newWord()
    const sandbox = await host.open({ isolation })
    await sandbox.spawn(`exec env -i sleep ${word}`)
    expect(
      await withTimeLimit(30_000, () => processesWith(word).some((pid) => nameOf(pid) === 'sleep')),
    ).toBeDefined()
    process.kill(host.pid, 'SIGKILL')
    expect(await withTimeLimit(3_000, () => processesWith(word).length === 0)).toBeDefined()
  })

  it.skipIf(skip)("the death of one host does not touch another's processes", async () => {
    const [one, two] = [openHost({ as }), openHost({ as })]
    onTestFinished(async () => void (await Promise.all([one.kill(), two.kill()])))
    const [dying, living] = [newWord(), newWord()]
    await plant(one, isolation, dying, held)
    await plant(two, isolation, living, held)
    process.kill(one.pid, 'SIGKILL')
    expect(await withTimeLimit(3_000, () => processesWith(dying).length === 0)).toBeDefined()
    await sleep(300)
    expect(processesWith(living).length).toBeGreaterThanOrEqual(3 * trees)
  })
})

describe.each(['self', 'ordinary'] as const)('the first process (%s)', (as) => {
  it.skipIf(reasonToSkip(as))('takes everything with it when it dies, and the journal says so', async () => {
    await using host = openHost({ as })
    const sandbox = await host.open()
    const word = newWord()
    await sandbox.spawn(shapes(word)[2] ?? '')
    await withTimeLimit(30_000, () => processesWith(word).length >= 3)
    const inits = processesWith('/run/vitrine/machine').filter(
      (pid) => nameOf(pid) === 'machine' && isBelow(pid, host.pid),
    )
    expect(inits).toHaveLength(1)
    for (const pid of inits) process.kill(pid, 'SIGKILL')
    expect(await withTimeLimit(3_000, () => processesWith(word).length === 0)).toBeDefined()
    await sleep(200)
    expect(await sandbox.events('sandbox.failed')).toMatchObject([{ data: { errorCode: 'interrupted' } }])
    await expect(sandbox.exec('true')).rejects.toMatchObject({ code: 'sandbox_not_running' })
  })
})

function isBelow(pid: number, ancestor: number): boolean {
  for (let at = pid; at > 1; at = parentOf(at)) if (at === ancestor) return true
  return false
}
