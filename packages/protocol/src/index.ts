/** The contract: events, errors, ids and the interfaces that every implementation shares. No Node, no I/O. */
export { fromProblem, type Problem, toProblem } from './errors/problem.ts'
export {
  type ErrorCode,
  type ErrorEntry,
  errorEntry,
  errorRegistry,
  type Retryable,
} from './errors/registry.ts'
export {
  isVitrineError,
  toVitrineError,
  VitrineError,
  type VitrineErrorOptions,
} from './errors/vitrine-error.ts'
export type { AgentMessage } from './events/agent-message.ts'
export {
  type DesktopEventType,
  type EventData,
  type EventType,
  eventCatalogue,
  isDesktopEventType,
  isEventType,
} from './events/catalogue.ts'
export { checkEventInput, parseEvent } from './events/check.ts'
export { type Outcome, outcomes } from './events/data/shared.ts'
export {
  type DesktopEvent,
  type EventContext,
  type EventInput,
  type EventOfType,
  type EventSource,
  eventEnvelope,
  eventSources,
  isGap,
  type JournalEvent,
  type JournalGap,
  type JournalItem,
  type KnownEvent,
  type Moment,
  type TraceIds,
  type UnknownEvent,
  type UnknownEventType,
} from './events/envelope.ts'
export {
  type ForeignEvent,
  foreignEvent,
  type RecordedForeignEvent,
  unwrapForeignEvent,
} from './events/foreign.ts'
export { type MatchedEvent, type MatchedItem, matchTypes } from './events/match.ts'
export {
  interruptedEnd,
  type OpenWork,
  openWork,
  type WorkKindName,
  type WorkMark,
  workId,
  workKinds,
  workMark,
} from './events/work.ts'
export type {
  ExportedEvent,
  ExportedHole,
  ExportedItem,
  ExportOptions,
  JournalOrigin,
  RememberedHead,
  TailExportOptions,
  Verification,
  VerifyOptions,
} from './exporting.ts'
export { type IdKind, idPrefixes, isId, newId, randomHex } from './ids.ts'
export type { JsonObject, JsonValue } from './json.ts'
export type { ObserverFailure, OnObserverError } from './observing.ts'
export { unknownKeyMessage } from './options/nearest.ts'
export { readPages } from './read-pages.ts'
export type {
  BlobRef,
  ByteRange,
  EventFilter,
  JournalFilter,
  JournalReader,
  Page,
  ReadOptions,
  Summary,
  SummaryBucket,
  SummaryOptions,
  TailOptions,
} from './reading.ts'
export type * from './sandbox/agents.ts'
export type { Capabilities } from './sandbox/capabilities.ts'
export type { CallContext, HostCallContext, RecordOptions, SandboxCore } from './sandbox/core.ts'
export type { CreateSandboxOptions } from './sandbox/create.ts'
export type * from './sandbox/files.ts'
export type { LifeTimes } from './sandbox/life-times.ts'
export type { Lifecycle } from './sandbox/lifecycle.ts'
export type * from './sandbox/local.ts'
export type * from './sandbox/look.ts'
export type * from './sandbox/manifest.ts'
export type { CommandPolicyOptions, Rule, Verdict } from './sandbox/policy.ts'
export type { PortAddress, PortInfo, PortPreview, Ports } from './sandbox/ports.ts'
export type * from './sandbox/processes.ts'
export type {
  EngineProvider,
  HostProvider,
  ProvidedSandbox,
  ProviderCall,
  ProviderCreateCall,
  ProviderOption,
  SandboxProvider,
} from './sandbox/provider.ts'
export type { Pruned, PrunedSandbox, PruneOptions } from './sandbox/prune.ts'
export { formatPtyUpdate, type PtyStart, type PtyTool, type PtyUpdate, type PtyWrite } from './sandbox/pty.ts'
export type {
  AttachSandboxOptions,
  ListSandboxesOptions,
  Sandbox,
  SandboxClient,
  SandboxFilter,
  SandboxInfo,
} from './sandbox/sandbox.ts'
export type * from './sandbox/sessions.ts'
export type * from './sandbox/stream-piece.ts'
export { isTraceparent } from './traceparent.ts'
export { version } from './version.ts'
