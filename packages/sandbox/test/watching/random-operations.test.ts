import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { newScene, type SceneOptions, shown } from './fixture.ts'
import { differences, Fold, pathIn, rescan } from './fold.ts'
import { carryOut, type Operation, operation } from './operations.ts'

const runs = Number(process.env.WATCH_RUNS ?? 150)

describe.each<SceneOptions>([{ mode: 'native' }, { mode: 'poll', intervalMs: 3 }])(
  'in mode $mode',
  (options) => {
    it('events are consistent, add up to the state on disk, and never concern untouched files', async () => {
      await fc.assert(
        fc.asyncProperty(fc.array(operation, { minLength: 1, maxLength: 30 }), (operations) =>
          check(options, operations),
        ),
        { numRuns: runs, endOnFailure: process.env.WATCH_SHRINK === undefined },
      )
    }, 120_000)
  },
)

async function check(options: SceneOptions, operations: readonly Operation[]): Promise<void> {
  const scene = await newScene({ ...options, prepare })
  try {
    const start = rescan(scene.root)
    const touched: string[] = []
    for (const one of operations)
      touched.push(...(await carryOut(scene.root, one, () => scene.watcher.flush())))
    await scene.watcher.flush()
    const disk = rescan(scene.root)
    const events = (await scene.events()).filter(({ type }) => type.startsWith('file.'))
    const fold = new Fold(start)
    for (const event of events) fold.add(event)
    fold.end()
    const linked = operations.some((one) => one.do === 'link')
    const isTouched = (path: string) =>
      path !== 'still' && !path.startsWith('still/') && (linked || isNear(path, touched))
    const untouched = events.filter((event) => !isTouched(pathIn(event)))
    expect({
      told: events.map(shown),
      faults: fold.faults,
      differences: differences(fold.tree, disk),
      untouched: untouched.map(shown),
    }).toEqual({ told: expect.anything(), faults: [], differences: [], untouched: [] })
  } finally {
    await scene.close()
  }
}

/** The path itself, an ancestor that moved it, or a descendant that required it. */
function isNear(path: string, touched: readonly string[]): boolean {
  return touched.some((one) => one === path || path.startsWith(`${one}/`) || one.startsWith(`${path}/`))
}

function prepare(root: string): void {
  for (const directory of ['a/b', 'c', 'still/here']) mkdirSync(join(root, directory), { recursive: true })
  for (const file of ['a/a', 'a/b/c', 'b', 'c/a', 'still/one', 'still/here/two'])
    writeFileSync(join(root, file), file)
}
