/** The append-only record: append, read, tail, taps, sinks, gates, policies, redaction, spans, blobs, stores. */
export {} from '@vitrine/protocol/require-node'

export type { Health } from './append/committer.ts'
export type { JournalStream } from './append/redacting-stream.ts'
export type { BlobContent, BlobLimits, PreparedBlob, StoredBlob } from './blobs/blobs.ts'
export { Entry } from './entry.ts'
export type { Gate, GateAnswer, GateOptions } from './gates/gates.ts'
export type { ImportOptions, ImportResult, MissingBlob } from './import-items.ts'
export type { RememberedHead, Verification } from './integrity/verify.ts'
export type { FlushOptions, Journal, WriterOptions } from './journal.ts'
export type { ExportedItem } from './mirror.ts'
export { openStore } from './open-store.ts'
export type { OperateOptions, Operation } from './operate/operate.ts'
export type { FinishData } from './operate/outcome.ts'
export type { PayloadPolicy } from './policy/policy.ts'
export type { EncodedEvent, TailEncodedOptions } from './read/encoded-event.ts'
export type { EncodedExport, TailExportEncodedOptions } from './read/exporting.ts'
export type { EncodedPage } from './read/reader.ts'
export type { Tail } from './read/tail.ts'
export type { RetentionLimits } from './retention/retention.ts'
export type { KeptSecret, LoadedSecrets, SecretNotice, SecretStorage } from './secrets/secret-storage.ts'
export { type SecretsFileOptions, secretsFile } from './secrets/secrets-file.ts'
export type { OpenStoreOptions } from './settings.ts'
export { callbackSink } from './sinks/callback.ts'
export type { SinkState } from './sinks/feed.ts'
export { type HttpSinkOptions, httpSink } from './sinks/http.ts'
export { type JsonlSinkOptions, jsonlSink } from './sinks/jsonl.ts'
export { type OtlpPartial, type OtlpSinkOptions, otlpSink } from './sinks/otlp.ts'
export type { Sink, SinkBatch, SinkWriteOptions } from './sinks/sink.ts'
export type { AddSinkOptions, SinkHandle } from './sinks/sinks.ts'
export {
  isWorkspaceSink,
  type PrivateWriter,
  type WorkspaceJsonlSink,
  type WorkspaceJsonlSinkOptions,
  workspaceJsonlSink,
} from './sinks/workspace-jsonl.ts'
export type { Store } from './store.ts'
export type {
  BlobInfo,
  CommitBatch,
  Hole,
  JournalHead,
  NewBlob,
  Removal,
  ScanRange,
  StoreConnection,
  StoreConnectOptions,
  StoreDriver,
  WorkKey,
} from './stores/contract.ts'
export { memoryStore } from './stores/memory.ts'
export { type SqliteStoreOptions, sqliteStore } from './stores/sqlite/store.ts'
export type { Tap, TapOptions, Untap } from './taps/taps.ts'
