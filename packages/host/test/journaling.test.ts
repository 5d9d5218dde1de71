import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { callbackSink, jsonlSink } from '@vitrine/journal'
import type { JournalItem } from '@vitrine/protocol'
import { local } from '@vitrine/sandbox'
import { describe, expect, it } from 'vitest'
import { createSandbox, openHost } from '../src/index.ts'
import { dataFolder } from './fixtures/data.ts'

const providers = [local({ isolation: 'none', watch: false })]

describe('the sinks of a host', () => {
  it('get the events of every sandbox, also those that they missed while they were not there', async () => {
    const data = dataFolder()
    const path = join(data, 'audit.jsonl')
    const sinks = [{ name: 'audit', sink: jsonlSink({ path }), types: ['operation.finished'] }]
    const host = await openHost({ data, providers, sinks })
    await (await host.create({ id: 'one' })).exec('echo first')
    await host.close()
    const silent = await openHost({ data, providers })
    await (await silent.create({ id: 'two' })).exec('echo second')
    await silent.close()
    const again = await openHost({ data, providers, sinks: [{ ...sinks[0]!, sink: jsonlSink({ path }) }] })
    await again.store.flush()
    await again.close()
    const lines = readFileSync(path, 'utf8').trim().split('\n')
    const execs = lines.map((line) => JSON.parse(line)).filter(({ data: { op } }) => op === 'exec')
    expect(execs.map(({ sandbox }) => sandbox)).toEqual(['one', 'two'])
  })

  it('can be given to the sandbox of a script', async () => {
    const seen: string[] = []
    const sink = callbackSink(({ type }: JournalItem) => void seen.push(type))
    const sandbox = await createSandbox({ provider: providers[0]!, sinks: [{ name: 'seen', sink }] })
    await sandbox.exec('true')
    await sandbox.close()
    expect(seen).toContain('process.exited')
  })

  it('are refused under one name, and the data directory is free again', async () => {
    const data = dataFolder()
    const sink = callbackSink(() => undefined)
    const twice = [
      { name: 'a', sink },
      { name: 'a', sink },
    ]
    await expect(openHost({ data, providers, sinks: twice })).rejects.toMatchObject({ code: 'sink_exists' })
    await (await openHost({ data, providers })).close()
  })
})

describe('the journals of a host', () => {
  it('keep what its payload policies say', async () => {
    await using host = await openHost({
      data: dataFolder(),
      providers,
      payload: { argv: false, output: false },
      payloadByOp: { write: { paths: false } },
    })
    const sandbox = await host.create()
    await sandbox.exec('echo very-private')
    await sandbox.files.write('private-name', 'x')
    await sandbox.files.stat('private-name')
    const { events } = await sandbox.journal.read({ limit: 1_000 })
    expect(events.filter((event) => JSON.stringify(event).includes('very-private'))).toEqual([])
    const named = events.filter((event) => JSON.stringify(event).includes('private-name'))
    expect(new Set(named.map(({ data }) => ('op' in data ? data.op : data)))).toEqual(new Set(['stat']))
  })

  it.each([
    ['leave out what one operation says', {}, { exec: { output: false, argv: false } }, ['spawn']],
    [
      'record what one operation says',
      { output: false, argv: false },
      { spawn: { output: true, argv: true } },
      ['spawn'],
    ],
  ])('%s, in the events of its process too', async (_name, payload, payloadByOp, recorded) => {
    await using host = await openHost({ data: dataFolder(), providers, payload, payloadByOp })
    const sandbox = await host.create()
    await sandbox.exec('echo private-exec')
    await (await sandbox.spawn('echo private-spawn')).exit
    const { events } = await sandbox.journal.read({ limit: 1_000 })
    const found = (type: string) =>
      events
        .filter((one) => one.type === type)
        .map((one) => JSON.stringify(one.data).match(/private-(\w+)/)?.[1])
    expect(found('process.output').filter(Boolean)).toEqual(recorded)
    expect(found('process.started').filter(Boolean)).toEqual(recorded)
    expect(found('process.output')).toHaveLength(2)
  })

  it('are trimmed to its retention', async () => {
    await using host = await openHost({ data: dataFolder(), providers, retention: { events: 100 } })
    const sandbox = await host.create()
    const message = { type: 'log.message', data: { level: 'info', message: 'again' } }
    await sandbox.record(Array.from({ length: 1_000 }, () => message))
    const kept = async () => {
      const { events } = await sandbox.journal.read({ limit: 2_000 })
      return events.filter(({ type }) => type !== 'journal.gap').length
    }
    await expect.poll(kept).toBeLessThanOrEqual(100)
  })

  it.each([
    [{ sinks: [{ name: 'a', sink: {} }] }, 'sinks[0].sink: expected a sink, such as `jsonlSink({ path })`'],
    [{ retention: { events: '5' } }, 'retention.events'],
    [{ payload: { outputs: true } }, 'output'],
  ])('refuse %j', async (options, message) => {
    await expect(openHost({ data: dataFolder(), ...(options as object) })).rejects.toThrow(message)
  })
})
