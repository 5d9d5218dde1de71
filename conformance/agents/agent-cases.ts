import { afterAll, beforeEach, describe, expect, it } from 'vitest'
import { checkLaws } from '../../packages/host/test/sessions/fixture.ts'
import { eventually } from '../src/waiting/within.ts'
import { badEndpointCases } from './bad-endpoint.ts'
import { cancellingCases } from './cancelling.ts'
import { capabilityCases } from './capabilities.ts'
import { missing, modelKey } from './environment.ts'
import type { ExpectedBehaviour } from './expected.ts'
import { failingCases } from './failing.ts'
import { type AgentFixture, type AgentIsolation, allEvents, openFixture, recordProcesses } from './fixture.ts'
import { messageCases } from './messages.ts'
import { processesOf, stillRunning } from './process-table.ts'
import { reportOnFailure } from './report-failure.ts'
import { expectResumed, type KilledHost, promptUnderKilledHost } from './resuming.ts'
import { firstModeCases, toolCases } from './tools.ts'

const isolations: readonly AgentIsolation[] = ['bubblewrap', 'none']

/** Registers all cases for one real agent, which talks to a scripted model server. */
export function describeAgent(expected: ExpectedBehaviour): void {
  const { agent, loadsAfterMs } = expected
  const absent = missing.includes(agent)
  const name = absent ? `${agent} (not installed)` : agent
  describe.skipIf(absent)(name, () => {
    /** The session to resume once more when it is old enough to be loaded. */
    let later: { readonly killed: KilledHost; readonly since: number } | undefined
    afterAll(() => later?.killed.remove())

    describe.each(isolations)('under %s', (isolation) => {
      let killed: KilledHost | undefined
      afterAll(async () => {
        if (later?.killed !== killed) await killed?.remove()
      })

      it('answers a prompt under a host that is then killed', async () => {
        killed = await promptUnderKilledHost(expected, isolation)
      })

      it('continues its session under another host', async () => {
        if (killed === undefined)
          throw new Error('The case before this one failed: there is no session to resume.')
        await expectResumed(expected, killed)
        if (loadsAfterMs !== undefined) later ??= { killed, since: Date.now() }
      })

      sessionCases(expected, isolation)
      if (isolation === 'bubblewrap') badEndpointCases(expected, isolation)
    })

    if (loadsAfterMs === undefined) return
    const marginMs = 30_000
    it('loads its own session once it is old enough', {
      timeout: loadsAfterMs + marginMs,
    }, async () => {
      if (later === undefined) throw new Error('There is no session to restore.')
      const { killed, since } = later
      await eventually(
        'a session that is old enough',
        () => Date.now() - since > loadsAfterMs,
        loadsAfterMs * 2,
      )
      await expectResumed(expected, killed, since)
    })
  })
}

/** Cases that share one session, from its opening to its close. */
function sessionCases(expected: ExpectedBehaviour, isolation: AgentIsolation): void {
  let opened: AgentFixture | undefined
  const fixture = (): AgentFixture => {
    if (opened === undefined) throw new Error('The case "opens a session" failed: there is no session.')
    return opened
  }

  beforeEach(async () => {
    reportOnFailure(() => opened?.sandbox)
    // Cancels a turn that a failed test left running.
    if (opened?.session.info.busy) await opened.session.cancel()
  })
  afterAll(() => opened?.close())

  it('opens a session', async () => {
    opened = await openFixture(expected, isolation)
    expect(opened.session.info).toMatchObject({ agent: expected.agent, state: 'open', turns: 0 })
    recordProcesses(opened)
  })

  if (expected.mode !== undefined) firstModeCases(fixture)
  messageCases(expected, fixture)
  toolCases(expected, fixture)
  capabilityCases(expected, fixture)
  cancellingCases(expected, fixture)
  failingCases(expected, fixture)

  it(`has given its session ${expected.setsTitle ? 'a title' : 'no title'}`, () => {
    expect(fixture().session.info.title).toEqual(expected.setsTitle ? expect.any(String) : undefined)
  })

  it('sends its key only to the model', async () => {
    const { model, sandbox } = fixture()
    const keys = new Set(model.requests.filter(({ tools }) => tools.length > 0).map(({ key }) => key))
    expect([...keys]).toEqual([modelKey])
    const leaks = (await allEvents(sandbox)).filter((event) => JSON.stringify(event).includes(modelKey))
    expect(leaks).toEqual([])
  })

  it('keeps the laws of the journal to the end of its session', async () => {
    const { sandbox, session } = fixture()
    recordProcesses(fixture())
    await session.close()
    await checkLaws(sandbox.journal)
  })

  it('leaves no process after the sandbox is closed', async () => {
    const { sandbox, seen, close } = fixture()
    expect(seen.size).toBeGreaterThan(1)
    await close()
    await eventually('no process of the sandbox', () => processesOf(sandbox.id).length === 0)
    expect(stillRunning(seen.values())).toEqual([])
  })
}
