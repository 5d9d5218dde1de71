/** The package that users install, for Node: hosts with sandboxes and agents, runs, the client, sinks, stores and views. */

export type * from '@vitrine/client'
export { connect } from '@vitrine/client'
export type * from '@vitrine/host'
export {
  commandPolicy,
  createSandbox,
  inlineSandboxClient,
  inProcessSandboxClient,
  listAgents,
  local,
  openHost,
  parseAgent,
} from '@vitrine/host'
export type * from '@vitrine/journal'
export {
  callbackSink,
  httpSink,
  jsonlSink,
  memoryStore,
  openStore,
  otlpSink,
  secretsFile,
  sqliteStore,
  workspaceJsonlSink,
} from '@vitrine/journal'
export type * from '@vitrine/protocol'
export { isGap, isVitrineError, VitrineError } from '@vitrine/protocol'
export {} from '@vitrine/protocol/require-node'
export type * from '@vitrine/runtime'
export {
  defineSandbox,
  openSandboxRun,
  SandboxRunAbortError,
  SandboxRunError,
  watchWorkspace,
} from '@vitrine/runtime'
export type * from '@vitrine/views'
export {
  changedFilesView,
  diffText,
  escapeForTerminal,
  eventLine,
  listChangedFiles,
  listTranscript,
  rebuild,
  transcriptText,
  transcriptView,
  unifiedDiff,
} from '@vitrine/views'
