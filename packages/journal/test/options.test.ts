import type { journalOptions, sinkOptions, storeOptions } from '@vitrine/protocol/options'
import { describe, expect, it } from 'vitest'
import { type InputOf, type Same, same } from '../../protocol/test/options/same.ts'
import {
  type AddSinkOptions,
  type FlushOptions,
  type GateOptions,
  type HttpSinkOptions,
  httpSink,
  type JsonlSinkOptions,
  jsonlSink,
  memoryStore,
  type OpenStoreOptions,
  type OtlpSinkOptions,
  openStore,
  type RetentionLimits,
  type SecretsFileOptions,
  type SqliteStoreOptions,
  sqliteStore,
  type TailEncodedOptions,
  type TapOptions,
} from '../src/index.ts'

type Of<Table, Name extends keyof Table> = InputOf<Table[Name]>
type Sink<Name extends keyof typeof sinkOptions> = Of<typeof sinkOptions, Name>
type Journal<Name extends keyof typeof journalOptions> = Of<typeof journalOptions, Name>

// Callers in plain JavaScript have no type checker.
const untyped = (value: unknown) => value as never

it('checks by schemas that have the types of this package', () => {
  same<Same<OpenStoreOptions, Of<typeof storeOptions, 'open'>>>()
  same<Same<SecretsFileOptions, Of<typeof storeOptions, 'secretsFile'>>>()
  same<Same<SqliteStoreOptions, Of<typeof storeOptions, 'sqlite'>>>()
  same<Same<AddSinkOptions, Sink<'add'>>>()
  same<Same<JsonlSinkOptions, Sink<'jsonl'>>>()
  same<Same<HttpSinkOptions, Sink<'http'>>>()
  same<Same<OtlpSinkOptions, Sink<'otlp'>>>()
  same<Same<TapOptions, Journal<'tap'>>>()
  same<Same<GateOptions, Journal<'gate'>>>()
  same<Same<FlushOptions, Journal<'flush'>>>()
  same<Same<TailEncodedOptions, Journal<'tailEncoded'>>>()
  same<Same<RetentionLimits, Journal<'retention'>>>()
  expect(same).toBeTypeOf('function')
})

describe('an unknown key is rejected with the nearest known one', () => {
  it.each<[string, () => unknown, string]>([
    ['sqliteStore', () => sqliteStore(untyped({ path: 'x', sync: 'full' })), '"synchronous"'],
    ['jsonlSink', () => jsonlSink(untyped({ path: 'x', maxByte: 1 })), '"maxBytes"'],
    ['httpSink', () => httpSink(untyped({ url: 'http://h', timeout: 1 })), '"timeoutMs"'],
  ])('%s rejects it', (name, call, meant) => {
    expect(call).toThrow(`${name} options: unknown key`)
    expect(call).toThrow(`did you mean ${meant}?`)
  })

  it('openStore rejects it before anything is opened', async () => {
    const options = untyped({ retention: { byte: 1 } })
    await expect(openStore(memoryStore(), options)).rejects.toThrow(
      'retention: unknown key "byte"; did you mean "bytes"? Known keys: events, bytes, ageMs.',
    )
  })

  it('every method that reads or listens rejects it', async () => {
    await using store = await openStore(memoryStore())
    const journal = await store.journal('sbx_a')
    const type = untyped({ type: ['file.*'] })
    await expect(journal.read(type)).rejects.toThrow(
      'read options: unknown key "type"; did you mean "types"?',
    )
    await expect(journal.summary(type)).rejects.toThrow('summary options: unknown key "type"')
    await expect(journal.flush(untyped({ timeout: 5 }))).rejects.toThrow('did you mean "timeoutMs"?')
    expect(() => journal.tail(type)).toThrow('tail options: unknown key "type"; did you mean "types"?')
    expect(() => journal.tap(() => undefined, type)).toThrow('tap options: unknown key "type"')
    expect(() => journal.gate('g', () => 'allow', untyped({ op: ['exec'] }))).toThrow(
      'gate options: unknown key',
    )
    expect(() => journal.as(untyped({ actr: 'me' }))).toThrow('as options: unknown key "actr"')
    expect(() => journal.append([], untyped({ blob: [] }))).toThrow('did you mean "blobs"?')
    await expect(store.putBlob('x', untyped({ mediatype: 'text/plain' }))).rejects.toThrow(
      'did you mean "mediaType"?',
    )
    const sink = { kind: 'none', write: async () => undefined }
    await expect(store.addSink('s', sink, type)).rejects.toThrow('addSink options: unknown key "type"')
  })
})
