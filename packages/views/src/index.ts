/** Pure, incremental functions from events to display state. No Node, no I/O. */
export type { ChangedFile, Moment } from '@vitrine/protocol'
export {
  type DiffHunk,
  type DiffLine,
  type DiffTextOptions,
  diffText,
  type TextDiff,
  unifiedDiff,
} from './diff/diff-text.ts'
export {
  type ChangedFiles,
  changedFilesAt,
  changedFilesView,
  listChangedFiles,
} from './files/changed-files.ts'
export { eventLine } from './lines/event-line.ts'
export { type EventLineOptions, type EventParts, eventParts } from './lines/event-parts.ts'
export type { Tone } from './lines/summary/event-summary.ts'
export {
  type OperationNode,
  type OperationTree,
  type OperationTreeOptions,
  operationTreeView,
} from './operations/operation-tree.ts'
export { type OperationRow, operationChildren, operationRoots, operationRows } from './operations/rows.ts'
export {
  type ListedProcess,
  listProcesses,
  type ProcessList,
  type ProcessListOptions,
  processListView,
} from './process-list.ts'
export type { SandboxRequest } from './sandboxes/sandbox-events.ts'
export {
  type ListedSandbox,
  listSandboxes,
  type SandboxesOptions,
  type SandboxOverview,
  sandboxEventTypes,
  sandboxesView,
} from './sandboxes/sandboxes-view.ts'
export {
  type ListedSession,
  listSessions,
  type SessionList,
  type SessionsOptions,
  sessionEventTypes,
  sessionsView,
} from './sessions/sessions-view.ts'
export { escapeForTerminal } from './text/escape-for-terminal.ts'
export { failedConnectionText } from './text/failed-connection.ts'
export { type Timeline, type TimelineBucket, type TimelineOptions, timelineView } from './timeline.ts'
export type { Attachment } from './transcript/content.ts'
export { listTranscript, transcriptEntry } from './transcript/entries.ts'
export type { TranscriptLimits } from './transcript/limits.ts'
export { type PiecePosition, parsePieceCursor } from './transcript/piece-cursor.ts'
export type { TranscriptPlan } from './transcript/plan.ts'
export type { ToolCallStatus } from './transcript/tool-calls.ts'
export type { ToolCallContent, ToolCallDiff } from './transcript/tool-content.ts'
export type {
  Transcript,
  TranscriptEntry,
  TranscriptMessage,
  TranscriptPermission,
  TranscriptQuestion,
  TranscriptRef,
  TranscriptThought,
  TranscriptToolCall,
  TranscriptTurn,
  TranscriptUsage,
} from './transcript/transcript.ts'
export { type TranscriptTextOptions, transcriptText } from './transcript/transcript-text.ts'
export { type TranscriptOptions, transcriptView } from './transcript/transcript-view.ts'
export { type AddedPieces, type PiecesOptions, turnPieces } from './transcript/turn-pieces.ts'
export { rebuild, type View } from './view.ts'
