import { expect, it } from 'vitest'
import { eventually } from '../src/waiting/within.ts'
import type { ExpectedBehaviour, ModelError } from './expected.ts'
import { type AgentFixture, chunkOf, fileIn, recordProcesses, replyTo, runTurn, textIn } from './fixture.ts'
import { processInside, stillRunning, treeOf } from './process-table.ts'
import { expectRestored } from './restored.ts'
import { expectNoFile, expectRefused, takeRefused } from './tools.ts'

/** Failures of the model, and of the agent's own process. */
export function failingCases(
  { agent, permissions, modelErrors }: ExpectedBehaviour,
  fixture: () => AgentFixture,
): void {
  for (const [status, effect] of Object.entries(modelErrors)) {
    it(`${sentences[effect]} when its model responds with ${status}, and answers the next prompt`, async () => {
      const { result, error, events } = await runTurn(fixture(), `error:${status}`)
      if (effect === 'agent_failed' || effect === 'credentials_missing') {
        expect(error).toMatchObject({ code: effect })
        if (effect === 'agent_failed') expect(error?.message).toContain(`told to fail with ${status}`)
      } else {
        expect(result).toMatchObject({ outcome: 'ok', modelError: { sign: effect } })
        expect(result?.modelError?.text).toBe(effect === 'message' ? textIn(events).trim() : undefined)
      }
      expect(await replyTo(fixture(), 'say:mango')).toContain('I say mango.')
    })
  }

  it('is restarted by the next prompt after it was killed in a turn', async () => {
    const { sandbox, session, model } = fixture()
    const { error } = await runTurn(fixture(), 'slow:tock', {
      async meanwhile({ until }) {
        await until('its first message', (event) => chunkOf(event, 'agent_message_chunk').includes('tock'))
        recordProcesses(fixture())
        const running = await sandbox.processes.list()
        const listed = running.find(({ owner, state }) => owner === agent && state === 'running')
        const own = processInside(sandbox.id, listed?.pid ?? 0)
        if (own === undefined) throw new Error(`The sandbox has no running process of ${agent}.`)
        const tree = treeOf(own.pid)
        process.kill(own.pid, 'SIGKILL')
        await eventually('the end of its descendants', () => stillRunning(tree).length === 0)
      },
    })
    expect(error).toMatchObject({ code: 'agent_exited' })
    const before = Date.now()
    expect(await replyTo(fixture(), 'say:quince')).toContain('I say quince.')
    recordProcesses(fixture())
    await expectRestored(fixture(), { before, prompt: 'say:quince', remembers: 'banana', model, session })
  })

  if (permissions === undefined) return
  it('asks for permission as before after a restart', async () => {
    const { path } = fileIn(fixture(), 'refused-at-last.txt')
    const turn = await takeRefused(fixture(), `write:${path}:never written`)
    expectRefused(turn, permissions)
    expectNoFile(fixture(), turn, 'refused-at-last.txt')
  })
}

const sentences: Readonly<Record<ModelError, string>> = {
  agent_failed: 'fails',
  credentials_missing: 'asks for a login',
  message: 'ends its turn with the error as its message',
  silence: 'ends its turn without a message',
}
