import { setTimeout as sleep } from 'node:timers/promises'
import type { RemoteSandbox } from '@vitrine/client'
import { isVitrineError, newId, type Session } from '@vitrine/protocol'
import { expect, it, onTestFinished } from 'vitest'
import { between, randomFrom } from '../src/crash/random.ts'
import { allItems } from '../src/events/all-items.ts'
import { eventsOf, numbers } from '../src/events/coverage.ts'
import { message } from '../src/events/inputs.ts'
import { scale } from '../src/scale.ts'
import { background } from '../src/waiting/background.ts'
import { eventually, withTimeLimit } from '../src/waiting/within.ts'
import { differenceOf, holeFaults } from './crash-faults.ts'
import { isMessage, TailFollower } from './follower.ts'
import { KillableDaemon } from './killable-daemon.ts'
import { type PromptedResult, turnRecordFaults } from './turn-faults.ts'

const lastMessage = 'the end'
const options = { id: 'talk', agent: 'demo', permissions: 'allow', env: { VITRINE_DEMO_PACE: '0' } } as const

interface Prompt {
  readonly turn: string
  readonly text: string
}

/** Each prompt leaves a line that tells that its work was done. */
function newPrompt(): Prompt {
  const turn = newId('turn')
  return { turn, text: `/stream 20 16\n/wait 150\n/run echo ${turn} >> ran.txt\n/say done` }
}

/** Sends a prompt; resolves with its result or its error, also when its daemon is killed. */
function send(session: Session, { turn, text }: Prompt): Promise<PromptedResult> {
  return background(
    session.prompt(text, { turn }).then(
      (result) => ({ turn, result }),
      (error: unknown) => ({ turn, error }),
    ),
  )
}

/** A call that the killed daemon never accepted. */
function isUnanswered({ error }: PromptedResult): boolean {
  return isVitrineError(error) && error.code === 'connection_failed'
}

it(
  `a turn runs once although its daemon is killed ${scale.promptKills} times and its prompt is sent again`,
  async () => {
    const seed = Date.now() % 2 ** 31
    const random = randomFrom(seed)
    const daemon = await KillableDaemon.at('none', random)
    const client = daemon.connect()
    onTestFinished(() => client.close())
    await daemon.start()
    const sandbox: RemoteSandbox = await client.create()
    const follower = new TailFollower(client.journal(sandbox.id).tail(), lastMessage)
    const prompts: Prompt[] = []
    const results: PromptedResult[] = []
    for (const round of numbers(1, scale.promptKills)) {
      const session = await sandbox.sessions.resumeOrCreate(options)
      const sent = numbers(1, 3).map(newPrompt)
      prompts.push(...sent)
      const first = sent.map((prompt) => send(session, prompt))
      // The first kill comes in the middle of a turn, the others at any moment.
      if (round === 1) await eventually('the turn', () => follower.sawTurn(String(sent[0]?.turn)), 60_000)
      else await sleep(between(random, 0, 800))
      await daemon.kill()
      if (round % 5 === 0) await daemon.killDuringStart(between(random, 0, 1_200))
      await daemon.start()
      const resumed = await sandbox.sessions.resumeOrCreate(options)
      const again = sent.map((prompt) => send(resumed, prompt))
      const settled = await withTimeLimit(`round ${round}`, Promise.all([...first, ...again]), 60_000)
      results.push(...settled.filter((one) => !isUnanswered(one)))
    }
    await (await sandbox.sessions.get(options.id)).close()
    await sandbox.record([message(lastMessage)])
    await follower.end()

    const items = await allItems(sandbox.journal, { limit: 10_000 })
    const stored = items.slice(0, items.findIndex((item) => isMessage(item, lastMessage)) + 1)
    const faults = [
      ...differenceOf(follower.items, stored),
      ...holeFaults(stored),
      ...turnRecordFaults(stored, results),
    ]
    expect(faults, `seed ${seed}`).toEqual([])
    const starts = eventsOf(stored).filter(({ type }) => type === 'turn.started')
    expect(starts.map(({ turn }) => turn).sort(), `seed ${seed}`).toEqual(
      prompts.map(({ turn }) => turn).sort(),
    )
    const ran = await new Response(await sandbox.files.read('ran.txt')).text()
    const lines = ran.split('\n').filter((line) => line !== '')
    expect(lines.length, `seed ${seed}: no work was done twice`).toBe(new Set(lines).size)
    // Without turns that were cut and turns that ran again the test would prove nothing.
    const outcomes = new Set(results.map(({ result }) => result?.outcome))
    expect([...outcomes]).toEqual(expect.arrayContaining(['ok', 'interrupted']))
  },
  60_000 + scale.promptKills * 15_000,
)
