import { afterAll, beforeEach, describe, expect, it } from 'vitest'
import { startModelServer } from '../../packages/agents/test/model/server.ts'
import { eventually } from '../src/waiting/within.ts'
import { cancellingCases } from './cancelling.ts'
import type { Expected } from './expected.ts'
import { failingCases } from './failing.ts'
import { processesOf, stillThere } from './process-table.ts'
import { expectResumed, killedHost } from './resuming.ts'
import { type Isolation, note, openScene, type Scene } from './scene.ts'
import { missing } from './setting.ts'
import { talkingCases } from './talking.ts'
import { tellOnFailure } from './telling.ts'
import { toolCases } from './tools.ts'

const isolations: readonly Isolation[] = ['bubblewrap', 'none']

/** Everything that one real agent is driven through, against a model that does what it is told. */
export function describeAgent(expected: Expected): void {
  const { agent } = expected
  const absent = missing.includes(agent)
  describe.skipIf(absent).each(isolations)(
    absent ? `${agent}, which could not be installed here, %s` : `${agent}, %s`,
    (isolation) => cases(expected, isolation),
  )
}

function cases(expected: Expected, isolation: Isolation): void {
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

  talkingCases(scene)
  toolCases(expected, scene)
  cancellingCases(expected, scene)
  failingCases(expected, scene)

  it('leaves no process', async () => {
    const { sandbox, seen, close } = scene()
    note(scene())
    expect(seen.size).toBeGreaterThan(1)
    await close()
    await eventually('no process of the sandbox', () => processesOf(sandbox.id).length === 0)
    expect(stillThere(seen.values())).toEqual([])
  })

  it('goes on under another host when the first one is killed', async () => {
    await using model = await startModelServer()
    const remains = await killedHost(expected, isolation, model)
    try {
      await expectResumed(expected, remains, model)
    } finally {
      remains.remove()
    }
  })
}
