import { afterAll, beforeEach, describe, expect, it } from 'vitest'
import { checkLaws } from '../../packages/host/test/sessions/scene.ts'
import { eventually } from '../src/waiting/within.ts'
import { cancellingCases } from './cancelling.ts'
import type { Expected } from './expected.ts'
import { failingCases } from './failing.ts'
import { processesOf, stillThere } from './process-table.ts'
import { expectResumed, killedHost, type Remains } from './resuming.ts'
import { allEvents, type Isolation, note, openScene, type Scene } from './scene.ts'
import { missing, modelKey } from './setting.ts'
import { talkingCases } from './talking.ts'
import { tellOnFailure } from './telling.ts'
import { firstModeCases, toolCases } from './tools.ts'

const isolations: readonly Isolation[] = ['bubblewrap', 'none']

/** Everything that one real agent is driven through, against a model that does what it is told. */
export function describeAgent(expected: Expected): void {
  const { agent, loadsAfterMs } = expected
  const absent = missing.includes(agent)
  const name = absent ? `${agent}, which could not be installed here` : agent
  describe.skipIf(absent)(name, () => {
    /** What is resumed once more when it is old enough. */
    let young: { readonly remains: Remains; readonly since: number } | undefined
    afterAll(() => young?.remains.remove())

    describe.each(isolations)('under %s', (isolation) => {
      let remains: Remains | undefined
      afterAll(async () => {
        if (young?.remains !== remains) await remains?.remove()
      })

      it('talks under a host that is killed', async () => {
        remains = await killedHost(expected, isolation)
      })

      it('goes on under another host', async () => {
        if (remains === undefined) throw new Error('There is nothing to go on with.')
        await expectResumed(expected, remains)
        if (loadsAfterMs !== undefined) young ??= { remains, since: Date.now() }
      })

      sessionCases(expected, isolation)
    })

    if (loadsAfterMs === undefined) return
    const patienceMs = 30_000
    it('is restored by its own means once it is old enough', {
      timeout: loadsAfterMs + patienceMs,
    }, async () => {
      if (young === undefined) throw new Error('There is no session to restore.')
      const { remains, since } = young
      await eventually(
        'a session that is old enough',
        () => Date.now() - since > loadsAfterMs,
        loadsAfterMs * 2,
      )
      await expectResumed(expected, remains, since)
    })
  })
}

/** One session from its beginning to its end, case after case. */
function sessionCases(expected: Expected, isolation: Isolation): void {
  let opened: Scene | undefined
  const scene = (): Scene => {
    if (opened === undefined) throw new Error('Its session could not be opened.')
    return opened
  }

  beforeEach(async () => {
    tellOnFailure(() => opened?.sandbox)
    // What a failed test has left running.
    if (opened?.session.info.busy) await opened.session.cancel()
  })
  afterAll(() => opened?.close())

  it('opens a session', async () => {
    opened = await openScene(expected, isolation)
    expect(opened.session.info).toMatchObject({ agent: expected.agent, state: 'open', turns: 0 })
    note(opened)
  })

  if (expected.mode !== undefined) firstModeCases(scene)
  talkingCases(expected, scene)
  toolCases(expected, scene)
  cancellingCases(expected, scene)
  failingCases(expected, scene)

  it(`has given its session ${expected.titled ? 'a title' : 'no title'}`, () => {
    expect(scene().session.info.title).toEqual(expected.titled ? expect.any(String) : undefined)
  })

  it('has shown its key to the model, and nowhere else', async () => {
    const { model, sandbox } = scene()
    const keys = new Set(model.requests.filter(({ tools }) => tools.length > 0).map(({ key }) => key))
    expect([...keys]).toEqual([modelKey])
    const told = (await allEvents(sandbox)).filter((event) => JSON.stringify(event).includes(modelKey))
    expect(told).toEqual([])
  })

  it('keeps the laws of the journal to the end of its session', async () => {
    const { sandbox, session } = scene()
    note(scene())
    await session.close()
    await checkLaws(sandbox.journal)
  })

  it('leaves no process', async () => {
    const { sandbox, seen, close } = scene()
    expect(seen.size).toBeGreaterThan(1)
    await close()
    await eventually('no process of the sandbox', () => processesOf(sandbox.id).length === 0)
    expect(stillThere(seen.values())).toEqual([])
  })
}
