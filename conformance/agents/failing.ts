import { expect, it } from 'vitest'
import { eventually } from '../src/waiting/within.ts'
import type { Expected, ModelError } from './expected.ts'
import { processInside, stillThere, treeOf } from './process-table.ts'
import { expectRestored } from './restored.ts'
import { chunkOf, fileIn, note, type Scene, said, take, textIn } from './scene.ts'
import { expectNoFile, expectRefused, takeRefused } from './tools.ts'

/** Its model fails, and it fails itself. */
export function failingCases({ agent, asks, modelErrors }: Expected, scene: () => Scene): void {
  for (const [status, becomes] of Object.entries(modelErrors)) {
    it(`${sentences[becomes]} when its model answers ${status}, and goes on with the next prompt`, async () => {
      const { result, error, events } = await take(scene(), `error:${status}`)
      if (becomes === 'agent_failed' || becomes === 'credentials_missing') {
        expect(error).toMatchObject({ code: becomes })
        if (becomes === 'agent_failed') expect(error?.message).toContain(`told to fail with ${status}`)
      } else {
        expect(result).toMatchObject({ outcome: 'ok', modelError: { sign: becomes } })
        expect(result?.modelError?.text).toBe(becomes === 'message' ? textIn(events).trim() : undefined)
      }
      expect(await said(scene(), 'say:mango')).toContain('I say mango.')
    })
  }

  it('is brought back by the next prompt when it is killed in the middle of a turn', async () => {
    const { sandbox, session, model } = scene()
    const { error } = await take(scene(), 'slow:tock', {
      async meanwhile({ until }) {
        await until('its first words', (event) => chunkOf(event, 'agent_message_chunk').includes('tock'))
        note(scene())
        const running = await sandbox.processes.list()
        const listed = running.find(({ owner, state }) => owner === agent && state === 'running')
        const own = processInside(sandbox.id, listed?.pid ?? 0)
        if (own === undefined) throw new Error(`There is no process of ${agent} to kill.`)
        const tree = treeOf(own.pid)
        process.kill(own.pid, 'SIGKILL')
        await eventually('the end of what it had started', () => stillThere(tree).length === 0)
      },
    })
    expect(error).toMatchObject({ code: 'agent_exited' })
    const before = Date.now()
    expect(await said(scene(), 'say:quince')).toContain('I say quince.')
    note(scene())
    await expectRestored(scene(), { before, prompt: 'say:quince', knows: 'banana', model, session })
  })

  if (asks === undefined) return
  it('asks as before once it was brought back', async () => {
    const { path } = fileIn(scene(), 'refused-at-last.txt')
    const turn = await takeRefused(scene(), `write:${path}:never written`)
    expectRefused(turn, asks)
    expectNoFile(scene(), turn, 'refused-at-last.txt')
  })
}

const sentences: Readonly<Record<ModelError, string>> = {
  agent_failed: 'fails',
  credentials_missing: 'asks for a login',
  message: 'ends its turn with the error as its message',
  silence: 'ends its turn without a word',
}
