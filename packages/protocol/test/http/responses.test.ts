import { describe, expectTypeOf, it } from 'vitest'
import type * as z from 'zod/mini'
import type * as agent from '../../src/http/responses/agent.ts'
import type * as event from '../../src/http/responses/event.ts'
import type * as file from '../../src/http/responses/file.ts'
import type { problem } from '../../src/http/responses/problem.ts'
import type * as process from '../../src/http/responses/process.ts'
import type * as sandbox from '../../src/http/responses/sandbox.ts'
import type * as session from '../../src/http/responses/session.ts'
import type {
  AgentInfo,
  Capabilities,
  ChangedFileList,
  ConfigOption,
  EventType,
  ExecResult,
  FileList,
  FileStat,
  InstallProgress,
  JournalGap,
  JsonObject,
  Page,
  PendingPermission,
  PendingQuestion,
  PortAddress,
  PortInfo,
  Problem,
  ProcessExit,
  ProcessInfo,
  PromptResult,
  SandboxInfo,
  SearchResult,
  SessionDetail,
  SessionInfo,
  SessionSummary,
  Summary,
  Unpacked,
  Usage,
} from '../../src/index.ts'

type Schema = () => z.ZodMiniType

/** The input type of a schema, with every array and field readonly as in the interfaces. */
type Fixed<T> = T extends object
  ? [T, JsonObject] extends [JsonObject, T]
    ? T
    : { readonly [Key in keyof T]: Fixed<T[Key]> }
  : T

type Sent<Response extends Schema> = Fixed<z.output<ReturnType<Response>>>

/** True if the types are assignable to each other. */
type Same<Interface, Response extends Schema> = [Interface, Sent<Response>] extends [
  Sent<Response>,
  Interface,
]
  ? true
  : false

// The compiler checks these: vitest runs the file, `tsc` fails on it.
describe('The schema of a response', () => {
  it('describes exactly the interfaces of a sandbox', () => {
    expectTypeOf<Same<Capabilities, typeof sandbox.capabilities>>().toEqualTypeOf<true>()
    expectTypeOf<Same<SandboxInfo, typeof sandbox.sandboxInfo>>().toEqualTypeOf<true>()
    expectTypeOf<Same<PortInfo, typeof sandbox.portInfo>>().toEqualTypeOf<true>()
    expectTypeOf<Same<PortAddress, typeof sandbox.portAddress>>().toEqualTypeOf<true>()
    expectTypeOf<Same<ExecResult, typeof process.execResult>>().toEqualTypeOf<true>()
    expectTypeOf<Same<ProcessExit, typeof process.processExit>>().toEqualTypeOf<true>()
    expectTypeOf<Same<FileStat, typeof file.fileStat>>().toEqualTypeOf<true>()
    expectTypeOf<Same<FileList, typeof file.fileList>>().toEqualTypeOf<true>()
    expectTypeOf<Same<SearchResult, typeof file.searchResult>>().toEqualTypeOf<true>()
    expectTypeOf<Same<ChangedFileList, typeof file.changedFileList>>().toEqualTypeOf<true>()
    expectTypeOf<Same<Unpacked, typeof file.unpacked>>().toEqualTypeOf<true>()
  })

  it('describes exactly the interfaces of a session', () => {
    type Summary = SessionInfo & { readonly activity?: SessionSummary['activity'] }
    expectTypeOf<Same<Summary, typeof session.sessionSummary>>().toEqualTypeOf<true>()
    expectTypeOf<Same<ConfigOption, typeof session.configOption>>().toEqualTypeOf<true>()
    expectTypeOf<Same<PendingPermission, typeof session.pendingPermission>>().toEqualTypeOf<true>()
    expectTypeOf<Same<PendingQuestion, typeof session.pendingQuestion>>().toEqualTypeOf<true>()
    expectTypeOf<Same<PromptResult, typeof session.promptResult>>().toEqualTypeOf<true>()
    expectTypeOf<Same<Usage, typeof session.usage>>().toEqualTypeOf<true>()
    expectTypeOf<Same<InstallProgress, typeof agent.installProgress>>().toEqualTypeOf<true>()
  })

  it('describes exactly the gaps, summaries and pages of a journal', () => {
    expectTypeOf<Same<JournalGap, typeof event.journalGap>>().toEqualTypeOf<true>()
    expectTypeOf<Same<Summary, typeof event.eventSummary>>().toEqualTypeOf<true>()
    type SentPage = z.output<ReturnType<typeof event.eventPage>>
    expectTypeOf<Readonly<Omit<SentPage, 'events'>>>().toEqualTypeOf<Omit<Page, 'events'>>()
    expectTypeOf<SentPage['events'][number]['type']>().toEqualTypeOf<EventType | 'journal.gap'>()
  })

  it('has every field of the interface, also where it adds names for other clients', () => {
    expectTypeOf<Sent<typeof process.processInfo>>().toExtend<ProcessInfo>()
    expectTypeOf<Sent<typeof agent.agentInfo>>().toExtend<AgentInfo>()
    expectTypeOf<Sent<typeof session.sessionState>>().toExtend<SessionInfo>()
    expectTypeOf<SessionDetail>().toExtend<Sent<typeof session.sessionDetail>>()
    expectTypeOf<Sent<typeof problem>>().toExtend<Problem>()
  })

  it('differs from a type with a missing, a different or an optional field', () => {
    type Stat = FileStat & { readonly owner: string }
    expectTypeOf<Same<Stat, typeof file.fileStat>>().toEqualTypeOf<false>()
    expectTypeOf<Same<Omit<FileStat, 'size'>, typeof file.fileStat>>().toEqualTypeOf<false>()
    type Sized = Omit<FileStat, 'size'> & { readonly size: string }
    expectTypeOf<Same<Sized, typeof file.fileStat>>().toEqualTypeOf<false>()
    expectTypeOf<Same<Partial<FileStat>, typeof file.fileStat>>().toEqualTypeOf<false>()
  })
})
