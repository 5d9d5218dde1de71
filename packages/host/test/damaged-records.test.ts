import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { dataFolder, open } from './fixtures/data.ts'

const local = { isolation: 'none' } as const

describe('a record that cannot be read', () => {
  it.each<[string, (text: string) => string, string]>([
    ['is not JSON', () => '{"id":', 'JSON'],
    ['has no labels', (text) => changed(text, { labels: undefined }), 'labels'],
    [
      'has a restriction that is unknown',
      (text) => changed(text, { local: { isolation: 'vm' } }),
      'isolation',
    ],
    ['has a newer version', (text) => changed(text, { version: 2 }), 'newer'],
    ['has another id', (text) => changed(text, { id: 'other' }), 'expected damaged'],
  ])('%s: it is reported, and the other sandboxes start', async (_, damage, message) => {
    const data = dataFolder()
    const first = await open(data)
    await first.create({ id: 'damaged', local })
    await first.create({ id: 'good', local })
    await first.close()
    const path = join(data, 'records', 'damaged.json')
    writeFileSync(path, damage(readFileSync(path, 'utf8')))

    const host = await open(data)
    const problem = { code: 'record_damaged', message: expect.stringContaining(path) }
    expect(await host.list()).toEqual([
      expect.objectContaining({ id: 'good', state: 'stopped' }),
      expect.objectContaining({ id: 'damaged', state: 'stopped', error: problem }),
    ])
    expect((await (await host.attach('good')).exec('echo fine')).stdout).toBe('fine\n')
    await expect(host.attach('damaged')).rejects.toMatchObject(problem)
    await expect(host.attach('damaged')).rejects.toThrow(message)
    await expect(host.find('damaged')).rejects.toMatchObject(problem)
    await expect(host.destroy('damaged')).rejects.toMatchObject(problem)
    await expect(host.create({ id: 'damaged', local })).rejects.toMatchObject({ code: 'sandbox_exists' })
    const { events } = await (await host.store.journal('host')).read({ order: 'desc', limit: 2 })
    expect(events).toMatchObject([
      { type: 'log.message', data: { level: 'error', sandbox: 'damaged', errorCode: 'record_damaged' } },
      { type: 'host.started', data: { stopped: 1, damaged: ['damaged'] } },
    ])
  })

  it.each(['host', 'loop_1'])('is reported if its id is the name of another journal: %s', async (id) => {
    const data = dataFolder()
    const first = await open(data)
    await first.create({ id: 'good', local })
    await first.close()
    const text = readFileSync(join(data, 'records', 'good.json'), 'utf8')
    writeFileSync(join(data, 'records', `${id}.json`), changed(text, { id }))
    const host = await open(data)
    await expect(host.attach(id)).rejects.toMatchObject({ code: 'record_damaged' })
    await expect(host.attach(id)).rejects.toThrow('reserved for another journal')
    await host.attach('good')
  })

  it('is reported if its file cannot be opened', async () => {
    const data = dataFolder()
    await (await open(data)).close()
    mkdirSync(join(data, 'records', 'folder.json'))
    chmodSync(join(data, 'records'), 0o700)
    const host = await open(data)
    expect(await host.list()).toMatchObject([{ id: 'folder', error: { code: 'record_damaged' } }])
  })
})

describe('a host', () => {
  it.each(['host', 'loop_1'])('refuses %s as the id of a sandbox', async (id) => {
    const host = await open(dataFolder())
    await expect(host.create({ id, local })).rejects.toMatchObject({
      code: 'argument_invalid',
      message: expect.stringContaining('reserved'),
    })
    expect(await host.list()).toEqual([])
  })

  it('refuses labels that only Vitrine may set', async () => {
    const host = await open(dataFolder())
    await expect(host.create({ labels: { 'vitrine.default': 'x' }, local })).rejects.toMatchObject({
      code: 'argument_invalid',
      message: expect.stringContaining('reserved'),
    })
    expect(await host.list()).toEqual([])
  })
})

function changed(text: string, fields: object): string {
  return JSON.stringify({ ...JSON.parse(text), ...fields })
}
