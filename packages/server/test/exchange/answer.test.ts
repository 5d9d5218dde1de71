import { expect, it, onTestFinished } from 'vitest'
import { Answer } from '../../src/exchange/answer.ts'

it('lets go of a body whose head alone is wanted, also of one that has failed already', async () => {
  const complaints: unknown[] = []
  const complain = (reason: unknown) => complaints.push(reason)
  process.on('unhandledRejection', complain)
  onTestFinished(() => void process.off('unhandledRejection', complain))
  let isLetGo = false
  const open = new ReadableStream<Uint8Array>({
    cancel: () => {
      isLetGo = true
    },
  })
  const failed = new ReadableStream<Uint8Array>({
    start: (controller) => controller.error(new Error('left')),
  })
  for (const body of [open, failed]) expect(new Answer(200, { a: 'b' }, body).head().body).toBeNull()
  for (let turn = 0; turn < 10; turn += 1) await new Promise(setImmediate)
  expect([isLetGo, complaints]).toEqual([true, []])
})
