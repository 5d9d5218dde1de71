import { expect, it } from 'vitest'
import type {
  ArchiveOptions,
  CommandPolicyOptions,
  CreateSandboxOptions,
  EncodedBytes,
  ExecOptions,
  FileOptions,
  HostCallContext,
  ListOptions,
  LocalOptions,
  LogOptions,
  OpenSessionOptions,
  PromptOptions,
  ReadFileOptions,
  ReadOptions,
  SearchOptions,
  SessionEventsOptions,
  SessionListenerOptions,
  SpawnOptions,
  SummaryOptions,
  TailOptions,
  WorkspaceManifest,
  WriteOptions,
} from '../../src/index.ts'
import type {
  createOptions,
  fileOptions,
  journalOptions,
  localOptions,
  manifestOptions,
  policyOptions,
  processOptions,
  sessionOptions,
} from '../../src/options/index.ts'
import { type InputOf, type Same, same } from './same.ts'

type Of<Table, Name extends keyof Table> = InputOf<Table[Name]>
type File<Name extends keyof typeof fileOptions> = Of<typeof fileOptions, Name>
type Proc<Name extends keyof typeof processOptions> = Of<typeof processOptions, Name>
type Journal<Name extends keyof typeof journalOptions> = Of<typeof journalOptions, Name>
type Session<Name extends keyof typeof sessionOptions> = Of<typeof sessionOptions, Name>

it('every schema has the same type as the public interface of this package', () => {
  same<Same<ExecOptions, Proc<'exec'>>>()
  same<Same<SpawnOptions, Proc<'spawn'>>>()
  same<Same<LogOptions, Proc<'logs'>>>()
  same<Same<FileOptions, File<'plain'>>>()
  same<Same<ReadFileOptions, File<'read'>>>()
  same<Same<WriteOptions, File<'write'>>>()
  same<Same<ListOptions, File<'list'>>>()
  same<Same<SearchOptions, File<'search'>>>()
  same<Same<ArchiveOptions, File<'archive'>>>()
  same<Same<ReadOptions, Journal<'read'>>>()
  same<Same<TailOptions, Journal<'tail'>>>()
  same<Same<SummaryOptions, Journal<'summary'>>>()
  same<Same<PromptOptions, Session<'prompt'>>>()
  same<Same<SessionEventsOptions, Session<'events'>>>()
  same<Same<SessionListenerOptions, Session<'onEvent'>>>()
  same<Same<HostCallContext, Session<'context'>>>()
  same<Same<OpenSessionOptions, Omit<Session<'open'>, 'tools' | 'context'>>>()
  same<Same<Omit<OpenSessionOptions, 'id' | 'agent'>, Omit<Session<'resume'>, 'tools' | 'context'>>>()
  same<Same<LocalOptions, Of<typeof localOptions, 'local'>>>()
  same<Same<CommandPolicyOptions, Of<typeof policyOptions, 'policy'>>>()
  same<Same<Omit<WorkspaceManifest, 'setup'>, Omit<Of<typeof manifestOptions, 'manifest'>, 'setup'>>>()
  same<
    Same<
      Omit<WorkspaceManifest<string | EncodedBytes>, 'setup'>,
      Omit<Of<typeof manifestOptions, 'json'>, 'setup'>
    >
  >()
  type Made = 'workspace' | 'policy'
  same<Same<keyof CreateSandboxOptions, keyof Omit<Of<typeof createOptions, 'host'>, 'onAsk'>>>()
  same<Same<Omit<CreateSandboxOptions, Made>, Omit<Of<typeof createOptions, 'host'>, Made | 'onAsk'>>>()
  same<Same<keyof Omit<CreateSandboxOptions, 'signal'>, keyof Of<typeof createOptions, 'json'>>>()
  same<
    Same<
      Omit<CreateSandboxOptions, 'workspace' | 'signal'>,
      Omit<Of<typeof createOptions, 'json'>, 'workspace'>
    >
  >()
  expect(same).toBeTypeOf('function')
})

it('the comparison of types finds a missing, an additional and a different field', () => {
  // @ts-expect-error: a field is missing.
  same<Same<{ a?: number; b?: string }, { a?: number }>>()
  // @ts-expect-error: a field is additional.
  same<Same<{ a?: number }, { a?: number; b?: string }>>()
  // @ts-expect-error: a field differs.
  same<Same<{ a?: number }, { a?: string }>>()
  // @ts-expect-error: a field is optional in one of them only.
  same<Same<{ a: number }, { a?: number }>>()
  expect(same).toBeTypeOf('function')
})
