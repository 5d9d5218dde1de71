import type { StreamPiece } from '@vitrine/protocol'
import { expect, it } from 'vitest'
import { numbers } from '../src/events/coverage.ts'
import { scale } from '../src/scale.ts'
import { CuttingProxy } from './cutting-proxy.ts'
import { readStream, StreamScene } from './session-streams.ts'

const { pieceCuts } = scale
const turn = 'cut'
const prompt = numbers(1, pieceCuts)
  .map((part) => `/say part ${part}\n/wait 20`)
  .concat('/write note.txt hello')
  .join('\n')

it(`the pieces of a turn over connections that are cut ${pieceCuts} times are those in process`, async () => {
  await using open = new AsyncDisposableStack()
  const scene = open.adopt(await StreamScene.open(), (one) => one.close())
  const { inProcess } = await scene.openSession()
  const proxy = open.adopt(await CuttingProxy.to(scene.daemon.url), (one) => one.close())
  const client = open.adopt(scene.daemon.connect(proxy.url), (one) => one.close())
  const session = await scene.sessionOf(client, inProcess.id)
  const read: StreamPiece[][] = []
  for (let cuts = 0; cuts < pieceCuts; ) {
    const pieces: StreamPiece[] = []
    read.push(pieces)
    for await (const piece of session.stream(prompt, { turn })) {
      pieces.push(piece)
      if (cuts < pieceCuts) cuts += proxy.cut()
    }
  }
  const whole = await readStream(() => inProcess.stream(prompt, { turn }))
  expect(whole.pieces.filter(({ type }) => type === 'text').length).toBeGreaterThanOrEqual(pieceCuts)
  for (const pieces of read) expect(pieces).toEqual(whole.pieces)
}, 120_000)
