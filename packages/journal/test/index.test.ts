import { readFile } from 'node:fs/promises'
import { expect, it } from 'vitest'
import * as journal from '../src/index.ts'

it('exports these values and no others', () => {
  expect(Object.keys(journal).sort()).toEqual([
    'Entry',
    'callbackSink',
    'httpSink',
    'isWorkspaceSink',
    'jsonlSink',
    'memoryStore',
    'openStore',
    'otlpSink',
    'secretsFile',
    'sqliteStore',
    'workspaceJsonlSink',
  ])
})

it('exports these types and no others', async () => {
  const text = await readFile(new URL('../src/index.ts', import.meta.url), 'utf8')
  const lists = [...text.matchAll(/export (type )?\{([^}]*)\}/g)]
  const names = lists.flatMap(([, isType, list = '']) =>
    list
      .split(',')
      .map((name) => name.trim())
      .filter((name) => name !== '' && (isType || name.startsWith('type ')))
      .map((name) => name.replace(/^type /, '')),
  )
  expect(names.sort()).toEqual([
    'AddSinkOptions',
    'BlobContent',
    'BlobInfo',
    'BlobLimits',
    'CommitBatch',
    'EncodedEvent',
    'EncodedExport',
    'EncodedPage',
    'ExportedItem',
    'FinishData',
    'FlushOptions',
    'Gate',
    'GateAnswer',
    'GateOptions',
    'Health',
    'Hole',
    'HttpSinkOptions',
    'ImportOptions',
    'ImportResult',
    'Journal',
    'JournalHead',
    'JournalStream',
    'JsonlSinkOptions',
    'KeptSecret',
    'LoadedSecrets',
    'MissingBlob',
    'NewBlob',
    'OpenStoreOptions',
    'OperateOptions',
    'Operation',
    'OtlpPartial',
    'OtlpSinkOptions',
    'PayloadPolicy',
    'PreparedBlob',
    'PrivateWriter',
    'RememberedHead',
    'Removal',
    'RetentionLimits',
    'ScanRange',
    'SecretNotice',
    'SecretStorage',
    'SecretsFileOptions',
    'Sink',
    'SinkBatch',
    'SinkHandle',
    'SinkState',
    'SinkWriteOptions',
    'SqliteStoreOptions',
    'Store',
    'StoreConnectOptions',
    'StoreConnection',
    'StoreDriver',
    'StoredBlob',
    'Tail',
    'TailEncodedOptions',
    'TailExportEncodedOptions',
    'Tap',
    'TapOptions',
    'Untap',
    'Verification',
    'WorkKey',
    'WorkspaceJsonlSink',
    'WorkspaceJsonlSinkOptions',
    'WriterOptions',
  ])
})

it('has an index that is a list of exports and the check of Node', async () => {
  const text = await readFile(new URL('../src/index.ts', import.meta.url), 'utf8')
  const rest = text
    .replace(/\/\*\*.*?\*\//gs, '')
    .replace(/export (type )?\{[^}]*\} from '\.\/[\w./-]+\.ts'\n/g, '')
  expect(rest.trim()).toBe("export {} from '@vitrine/protocol/require-node'")
})
