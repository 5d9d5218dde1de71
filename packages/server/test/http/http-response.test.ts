import { describe, expect, it, onTestFinished } from 'vitest'
import { closingParts } from '../../src/http/body.ts'
import { HttpResponse } from '../../src/http/http-response.ts'

it('closes the body of a response to HEAD, also one that has failed already', async () => {
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
  for (const body of [open, failed]) expect(new HttpResponse(200, { a: 'b' }, body).head().body).toBeNull()
  for (let turn = 0; turn < 10; turn += 1) await new Promise(setImmediate)
  expect([isLetGo, complaints]).toEqual([true, []])
})

describe('A body in parts as a web response', () => {
  const reused = Buffer.from('?')
  const parts = async function* () {
    for (const letter of 'abc') {
      reused.write(letter)
      yield reused
    }
  }

  it('copies its parts, because their source reuses its memory', async () => {
    const reader = new HttpResponse(200, {}, parts()).toResponse().body!.getReader()
    const kept: Uint8Array[] = []
    for (let next = await reader.read(); !next.done; next = await reader.read()) kept.push(next.value)
    expect(Buffer.concat(kept).toString()).toBe('abc')
  })

  it('fails for a reader that stalled, and its source is closed by then', async () => {
    const { promise: closed, resolve: close } = Promise.withResolvers<void>()
    const body = closingParts(parts(), close)
    const reader = new HttpResponse(200, {}, body, 1).toResponse().body!.getReader()
    await reader.read()
    await closed
    // An app that mounts the daemon gets the error without another read, and can close the connection.
    await expect(reader.closed).rejects.toMatchObject({ code: 'reader_fell_behind' })
    await expect(reader.read()).rejects.toMatchObject({ code: 'reader_fell_behind' })
  })
})
