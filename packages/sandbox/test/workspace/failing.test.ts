import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { commandPolicy } from '../../src/index.ts'
import { folder, isolations, openScene, processesWith, say } from './prepared.ts'

/** A unique argument, to find the process by. */
const unique = () => `4${Math.floor(Math.random() * 1e9)}.25`

describe.each(isolations)('a set-up that fails under isolation %s', (isolation) => {
  it('reports the step, its exit and its last output, and leaves nothing but the journal', async () => {
    const scene = await openScene()
    const word = unique()
    const failing = scene.prepare(
      {
        files: { 'a/b.txt': 'x' },
        setup: [
          `nohup setsid sleep ${word} > /dev/null 2>&1 &`,
          'mkdir locked; touch locked/x; chmod 000 locked; seq 100 >&2; exit 7',
          'touch never',
        ],
      },
      { isolation },
    )
    await expect(failing).rejects.toMatchObject({
      code: 'setup_failed',
      message: expect.stringMatching(
        /^Step 3 of 4, "mkdir locked.*\(workspace\.setup\[1\]\): exit code 7\.\n.*100$/s,
      ),
      details: {
        step: 3,
        name: expect.stringContaining('mkdir locked'),
        where: 'workspace.setup[1]',
        exitCode: 7,
        output: expect.stringMatching(/^81\n.*\n100$/s),
      },
    })
    expect(scene.left()).toEqual([])
    expect(processesWith(word)).toEqual([])
    expect(await scene.steps()).toEqual([
      ...['1 started', '1 finished', '2 started', '2 finished'],
      ...['3 started', '3 failed'],
    ])
    expect((await scene.progress()).at(-1)).toMatchObject({ exitCode: 7, done: 2, total: 4 })
    const events = await scene.events()
    const ends = events.filter(({ type }) => type === 'operation.finished')
    expect(ends.filter(({ data }) => data.op === 'apply_manifest' || data.op === 'start')).toMatchObject([
      { data: { ok: false, errorCode: 'setup_failed' } },
      { data: { ok: false, errorCode: 'setup_failed' } },
    ])
    expect(ends.at(-1)).toMatchObject({ data: { op: 'undo_manifest', ok: true } })
    expect(events.some(({ type }) => type === 'sandbox.failed')).toBe(true)
    expect(events.some(({ type }) => type === 'sandbox.ready')).toBe(false)
  })

  it('empties a given workspace and leaves its surroundings', async () => {
    const scene = await openScene()
    const above = folder()
    const root = join(above, 'project')
    mkdirSync(root)
    writeFileSync(join(above, 'other'), 'x')
    const failing = scene.prepare(
      { files: { 'a/b.txt': 'x' }, setup: ['ln -s .. up; exit 1'] },
      { isolation, root },
    )
    await expect(failing).rejects.toMatchObject({ code: 'setup_failed' })
    expect(readdirSync(root)).toEqual([])
    expect(existsSync(join(above, 'other'))).toBe(true)
    expect(readdirSync(join(above, '.vitrine'))).toEqual([])
    expect(scene.left()).toEqual([])
  })

  it('can be fixed and run again under the same id', async () => {
    const scene = await openScene()
    await expect(scene.prepare({ files: { a: 'x' }, setup: ['false'] }, { isolation })).rejects.toMatchObject(
      {
        code: 'setup_failed',
      },
    )
    const sandbox = await scene.prepare({ files: { a: 'x' }, setup: ['true'] }, { isolation })
    expect(await say(sandbox, 'ls')).toBe('a')
  })

  it('reports a killed step and a step that timed out', async () => {
    const scene = await openScene()
    await expect(scene.prepare({ setup: ['kill -9 $$'] }, { isolation })).rejects.toMatchObject({
      code: 'setup_failed',
      message: expect.stringContaining('killed by SIGKILL'),
      details: { signal: 'SIGKILL', exitCode: null },
    })
    const word = unique()
    await expect(
      scene.prepare({ setup: [{ run: `sleep ${word} & sleep ${word}`, timeoutMs: 300 }] }, { isolation }),
    ).rejects.toMatchObject({
      code: 'setup_failed',
      message: expect.stringContaining('timed out'),
      details: { outcome: 'timeout' },
    })
    expect(processesWith(word)).toEqual([])
    expect(scene.left()).toEqual([])
  })

  it('aborts the other steps of the group, awaits them, and starts no more', async () => {
    const scene = await openScene()
    const word = unique()
    const failing = scene.prepare(
      {
        setup: [
          {
            parallel: [
              `touch begun; sleep ${word}`,
              'until [ -e begun ]; do sleep 0.01; done; echo this one >&2; exit 3',
              'touch never',
            ],
          },
        ],
        concurrency: 2,
      },
      { isolation },
    )
    await expect(failing).rejects.toMatchObject({
      code: 'setup_failed',
      message: expect.stringContaining('this one'),
      details: { step: 2, exitCode: 3, where: 'workspace.setup[0].parallel[1]' },
    })
    expect(processesWith(word)).toEqual([])
    expect((await scene.steps()).toSorted()).toEqual(['1 failed', '1 started', '2 failed', '2 started'])
    const failed = (await scene.progress()).filter(({ state }) => state === 'failed')
    expect(failed.map(({ step, outcome }) => [step, outcome]).toSorted()).toEqual([
      [1, 'cancelled'],
      [2, undefined],
    ])
    const ended = (await scene.events()).filter(
      ({ type, data }) => type === 'operation.finished' && data.op === 'exec',
    )
    expect(ended.map(({ data }) => data.outcome).toSorted()).toEqual(['cancelled', 'failed'])
  })

  it('a command that the policy denies does not run and fails the setup', async () => {
    const scene = await openScene()
    const outside = join(folder(), 'touched')
    const failing = scene.prepare(
      { setup: ['true', `touch ${outside}`] },
      { isolation, policy: commandPolicy({ deny: ['touch *'], otherwise: 'allow' }) },
    )
    await expect(failing).rejects.toMatchObject({
      code: 'setup_failed',
      details: { step: 2, code: 'gate_refused' },
    })
    expect(existsSync(outside)).toBe(false)
    expect(scene.left()).toEqual([])
  })

  it('a cancelled setup fails as cancelled and leaves nothing', async () => {
    const scene = await openScene()
    const word = unique()
    const cancellation = new AbortController()
    const failing = scene.prepare(
      { files: { a: 'x' }, setup: [`touch begun; sleep ${word}`, 'touch never'] },
      { isolation, signal: cancellation.signal },
    )
    failing.catch(() => undefined)
    await expect.poll(() => processesWith(word).length, { timeout: 20_000 }).toBeGreaterThan(0)
    cancellation.abort(new Error('enough'))
    await expect(failing).rejects.toMatchObject({ code: 'cancelled' })
    expect(processesWith(word)).toEqual([])
    expect(scene.left()).toEqual([])
    const applied = (await scene.events()).find(
      ({ type, data }) => type === 'operation.finished' && data.op === 'apply_manifest',
    )
    expect(applied?.data).toMatchObject({ outcome: 'cancelled' })
  })

  it('aborting the signal after the setup has no effect', async () => {
    const scene = await openScene()
    const cancellation = new AbortController()
    const sandbox = await scene.prepare({ files: { a: 'x' } }, { isolation, signal: cancellation.signal })
    cancellation.abort()
    expect(await say(sandbox, 'cat a')).toBe('x')
    await sandbox.lifecycle.stop()
    await sandbox.lifecycle.start()
    expect(await say(sandbox, 'cat a')).toBe('x')
  })
})

it('does nothing if the signal is already aborted', async () => {
  const scene = await openScene()
  const failing = scene.prepare({ files: { a: 'x' } }, { isolation: 'none', signal: AbortSignal.abort() })
  await expect(failing).rejects.toMatchObject({ code: 'cancelled' })
  expect(await scene.events()).toEqual([])
})
