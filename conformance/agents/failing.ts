import { expect, it } from 'vitest'
import { eventually } from '../src/waiting/within.ts'
import type { Expected } from './expected.ts'
import { processInside, stillThere, treeOf } from './process-table.ts'
import { expectRestored } from './restored.ts'
import { chunkOf, note, type Scene, said, take } from './scene.ts'

/** Its model fails, and it fails itself. */
export function failingCases({ agent, modelError }: Expected, scene: () => Scene): void {
  it(`${modelErrorSentences[modelError]}, and goes on with the next prompt`, async () => {
    const { result, error } = await take(scene(), 'error:400')
    if (modelError === 'fails') {
      expect(error).toMatchObject({ code: 'agent_failed' })
      expect(error?.message).toContain('told to fail with 400')
    } else if (modelError === 'message') {
      expect(result).toMatchObject({ outcome: 'ok', modelError: { sign: 'message' } })
      expect(result?.modelError?.text).toContain('told to fail with 400')
    } else expect(result).toMatchObject({ outcome: 'ok', modelError: { sign: 'silence' } })
    expect(await said(scene(), 'say:mango')).toContain('I say mango.')
  })

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
}

const modelErrorSentences: Readonly<Record<Expected['modelError'], string>> = {
  fails: 'fails with what its model failed with',
  message: 'ends a turn well in which its model failed, and the sign is its message',
  silence: 'ends a turn well in which its model failed, and the sign is that it said nothing',
}
