import { VitrineError } from '@vitrine/protocol'
import { expect, it } from 'vitest'
import { type PrunedHost, prune } from '../src/prune.ts'
import { dataFolder, open } from './fixtures/data.ts'

const info = {
  provider: 'local',
  labels: {},
  createdAt: new Date(0).toISOString(),
  state: 'stopped',
} as const

/** A host of stopped sandboxes without events. */
function hostOf(ids: readonly string[], parts: Partial<PrunedHost> = {}) {
  const destroyed: string[] = []
  const host: PrunedHost = {
    infos: () => ids.map((id) => ({ ...info, id })),
    info: (id) => ({ ...info, id }),
    isStarting: () => false,
    journal: async () => ({ read: async () => ({ events: [], cursor: '', end: true }) }) as never,
    ownBytes: async () => 1,
    destroy: async (id) => void destroyed.push(id),
    ...parts,
  }
  return { host, destroyed }
}

it('prune leaves a sandbox that is started while its disk space is measured', async () => {
  let isStarting = false
  const { host, destroyed } = hostOf(['one'], {
    isStarting: () => isStarting,
    ownBytes: async () => {
      isStarting = true
      return 1
    },
  })
  expect(await prune(host, { stoppedMs: 0 })).toEqual({ sandboxes: [], freedBytes: 0 })
  expect(destroyed).toEqual([])
  await prune(host, { stoppedMs: 0, running: true })
  expect(destroyed).toEqual(['one'])
})

it.each(['journal', 'ownBytes', 'destroy'] as const)('prune goes on after a failing %s', async (part) => {
  const whole = hostOf([]).host[part]
  const { host } = hostOf(['one', 'two'], {
    [part]: async (id: string) => {
      if (id === 'one') throw new VitrineError('disk_full', 'No space left.')
      return whole(id)
    },
  })
  const { sandboxes } = await prune(host, { stoppedMs: 0 })
  expect(sandboxes.map(({ id, error }) => [id, error?.code])).toEqual([
    ['one', 'disk_full'],
    ['two', undefined],
  ])
})

it('prune leaves a sandbox that is being created', async () => {
  const host = await open(dataFolder())
  const creating = host.create({ id: 'new', local: { isolation: 'none' } })
  while (host.info('new') === undefined) await new Promise(setImmediate)
  expect(host.info('new')?.state).toBe('stopped')
  expect((await host.prune({ stoppedMs: 0 })).sandboxes).toEqual([])
  expect((await (await creating).exec('echo here')).stdout).toBe('here\n')
})
