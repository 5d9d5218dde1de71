import { readFile } from 'node:fs/promises'
import { expect, it } from 'vitest'
import * as protocol from '../src/index.ts'

it('exports these values and no others', () => {
  expect(Object.keys(protocol).sort()).toEqual([
    'VitrineError',
    'checkEventInput',
    'errorEntry',
    'errorRegistry',
    'eventCatalogue',
    'eventEnvelope',
    'eventSources',
    'foreignEvent',
    'formatPtyUpdate',
    'fromProblem',
    'idPrefixes',
    'interruptedEnd',
    'isDesktopEventType',
    'isEventType',
    'isGap',
    'isId',
    'isTraceparent',
    'isVitrineError',
    'matchTypes',
    'newId',
    'openWork',
    'outcomes',
    'parseEvent',
    'randomHex',
    'readPages',
    'toProblem',
    'toVitrineError',
    'unknownKeyMessage',
    'unwrapForeignEvent',
    'version',
    'workId',
    'workKinds',
    'workMark',
  ])
})

it('has an index that is a list of exports and nothing else', async () => {
  const text = await readFile(new URL('../src/index.ts', import.meta.url), 'utf8')
  const rest = text
    .replace(/\/\*\*.*?\*\//gs, '')
    .replace(/export (type )?(\{[^}]*\}|\*) from '\.\/[\w./-]+\.ts'\n/g, '')
  expect(rest.trim()).toBe('')
})

it('exports these types and no others by name', async () => {
  const text = await readFile(new URL('../src/index.ts', import.meta.url), 'utf8')
  const lists = [...text.matchAll(/export (type )?\{([^}]*)\}/g)]
  const names = lists.flatMap(([, isType, list = '']) =>
    list
      .split(',')
      .map((name) => name.trim())
      .filter((name) => name !== '' && (isType || name.startsWith('type ')))
      .map((name) => name.replace(/^type /, '')),
  )
  const wholes = [...text.matchAll(/export type \* from '(.*)'/g)].map(([, path]) => path)
  expect(names.sort()).toEqual([
    'AgentMessage',
    'AttachSandboxOptions',
    'BlobRef',
    'ByteRange',
    'CallContext',
    'Capabilities',
    'CommandPolicyOptions',
    'CreateSandboxOptions',
    'DesktopEvent',
    'DesktopEventType',
    'EngineProvider',
    'ErrorCode',
    'ErrorEntry',
    'EventContext',
    'EventData',
    'EventFilter',
    'EventInput',
    'EventOfType',
    'EventSource',
    'EventType',
    'ExportOptions',
    'ExportedEvent',
    'ExportedHole',
    'ExportedItem',
    'ForeignEvent',
    'HostCallContext',
    'HostProvider',
    'IdKind',
    'JournalEvent',
    'JournalFilter',
    'JournalGap',
    'JournalItem',
    'JournalOrigin',
    'JournalReader',
    'JsonObject',
    'JsonValue',
    'KnownEvent',
    'LifeTimes',
    'Lifecycle',
    'ListSandboxesOptions',
    'MatchedEvent',
    'MatchedItem',
    'Moment',
    'ObserverFailure',
    'OnObserverError',
    'OpenWork',
    'Outcome',
    'Page',
    'PortAddress',
    'PortInfo',
    'PortPreview',
    'Ports',
    'Problem',
    'ProvidedSandbox',
    'ProviderCall',
    'ProviderCreateCall',
    'ProviderOption',
    'PruneOptions',
    'Pruned',
    'PrunedSandbox',
    'PtyStart',
    'PtyTool',
    'PtyUpdate',
    'PtyWrite',
    'ReadOptions',
    'RecordOptions',
    'RecordedForeignEvent',
    'RememberedHead',
    'Retryable',
    'Rule',
    'Sandbox',
    'SandboxClient',
    'SandboxCore',
    'SandboxFilter',
    'SandboxInfo',
    'SandboxProvider',
    'Summary',
    'SummaryBucket',
    'SummaryOptions',
    'TailExportOptions',
    'TailOptions',
    'TraceIds',
    'UnknownEvent',
    'UnknownEventType',
    'Verdict',
    'Verification',
    'VerifyOptions',
    'VitrineErrorOptions',
    'WorkKindName',
    'WorkMark',
  ])
  expect(wholes.sort()).toEqual([
    './sandbox/agents.ts',
    './sandbox/files.ts',
    './sandbox/local.ts',
    './sandbox/look.ts',
    './sandbox/manifest.ts',
    './sandbox/processes.ts',
    './sandbox/sessions.ts',
    './sandbox/stream-piece.ts',
  ])
})
