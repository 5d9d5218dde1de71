import { describe, expect, it } from 'vitest'
import { isolations, openScene, say } from './prepared.ts'

describe.each(isolations)('files of a manifest under isolation %s', (isolation) => {
  it('are told from later changes by their events', async () => {
    const scene = await openScene()
    const sandbox = await scene.prepare(
      { files: { 'src/a': 'a', 'src/b': 'b' }, setup: ['echo made > built'] },
      { isolation },
    )
    await say(sandbox, 'echo more >> src/a; echo new > mine')
    await sandbox.files.write('mine-too', 'x')
    await sandbox.files.flush()
    const files = (await scene.events()).filter(({ type }) => type.startsWith('file.'))
    expect(files.map(({ type, data }) => `${type} ${data.path} ${data.by ?? ''}`)).toEqual(
      expect.arrayContaining([
        'file.created src/a manifest',
        'file.created src/b manifest',
        'file.created built manifest',
        'file.changed src/a ',
        'file.created mine ',
        'file.created mine-too ',
      ]),
    )
  })

  it('are marked again for no later start', async () => {
    const scene = await openScene()
    const sandbox = await scene.prepare({ files: { a: 'a' } }, { isolation })
    await sandbox.lifecycle.shutdown()
    await sandbox.lifecycle.start()
    await say(sandbox, 'echo new > mine')
    await sandbox.files.flush()
    const created = (await scene.events()).filter(({ type }) => type === 'file.created')
    expect(created.map(({ data }) => [data.path, data.by])).toEqual([
      ['a', 'manifest'],
      ['mine', undefined],
    ])
  })
})
