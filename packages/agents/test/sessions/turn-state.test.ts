import { type PromptResult, VitrineError } from '@vitrine/protocol'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { PromptQueue } from '../../src/sessions/prompt-queue.ts'

/** A turn that ends when the test ends it. */
function turn(log: string[], id: string) {
  const over = Promise.withResolvers<void>()
  const run = async (): Promise<PromptResult> => {
    log.push(`${id} begins`)
    await over.promise
    log.push(`${id} ends`)
    return { turn: id, outcome: 'ok' }
  }
  return { run, end: () => over.resolve(), fail: (error: unknown) => over.reject(error) }
}

it('runs one turn at a time, in order, also after a failed one', async () => {
  const queue = new PromptQueue(5)
  const log: string[] = []
  const turns = ['a', 'b', 'c'].map((id) => ({ id, ...turn(log, id) }))
  const answers = turns.map(({ id, run }) => queue.add(id, run).catch((error: Error) => error.message))
  expect(queue.busy).toBe(true)
  turns[2]?.end()
  turns[1]?.fail(new Error('b failed'))
  turns[0]?.end()
  expect(await Promise.all(answers)).toEqual([
    { turn: 'a', outcome: 'ok' },
    'b failed',
    { turn: 'c', outcome: 'ok' },
  ])
  expect(log).toEqual(['a begins', 'a ends', 'b begins', 'c begins', 'c ends'])
  await expect.poll(() => queue.busy).toBe(false)
})

it('gives every prompt a result, whether it is dropped, cancelled or run', async () => {
  const steps = fc.array(fc.constantFrom('add', 'drop', 'cancel', 'close', 'end'), { maxLength: 30 })
  await fc.assert(
    fc.asyncProperty(steps, async (all) => {
      const queue = new PromptQueue(3)
      const log: string[] = []
      const turns: ReturnType<typeof turn>[] = []
      const answers: Promise<string>[] = []
      for (const step of all) {
        const id = String(turns.length)
        if (step === 'add') {
          const one = turn(log, id)
          try {
            const answer = queue.add(id, one.run)
            answers.push(
              answer.then(
                ({ outcome }) => outcome,
                (error: VitrineError) => error.code,
              ),
            )
            turns.push(one)
          } catch (error) {
            expect(error).toMatchObject({ code: 'session_queue_full' })
          }
        } else if (step === 'drop') queue.drop(String(turns.length - 1))
        else if (step === 'cancel') queue.endQueued((waiting) => ({ turn: waiting, outcome: 'cancelled' }))
        else if (step === 'close') queue.endQueued(() => new VitrineError('session_closed', 'closed'))
        else for (const one of turns) one.end()
        await Promise.resolve()
      }
      for (const one of turns) one.end()
      const outcomes = await Promise.all(answers)
      expect(outcomes).toHaveLength(turns.length)
      for (const outcome of outcomes) expect(['ok', 'cancelled', 'session_closed']).toContain(outcome)
      const begun = log.filter((line) => line.endsWith('begins'))
      expect(begun).toHaveLength(outcomes.filter((outcome) => outcome === 'ok').length)
    }),
    { numRuns: 50 },
  )
})
