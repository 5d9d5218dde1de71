import type { JsonObject } from '@vitrine/protocol'

const hash = `sha256:${'a'.repeat(64)}`
const error = {
  errorType: 'Error',
  errorCode: 'some_code',
  errorMessage: 'what went wrong',
  retryable: 'unknown',
}

/** Events with every field that a policy changes, and with the identifiers that it must not change. */
export const samples: readonly { readonly type: string; readonly data: JsonObject }[] = [
  { type: 'sandbox.created', data: { provider: 'local', root: '/workspace' } },
  { type: 'sandbox.degraded', data: { feature: 'isolation', reason: 'bubblewrap is not installed here' } },
  { type: 'sandbox.failed', data: error },
  {
    type: 'operation.started',
    data: { op: 'exec', parent: 'op_0', argv: ['ls'], cwd: '/w', env: { A: 'b' } },
  },
  { type: 'operation.progress', data: { op: 'exec', gate: 'policy', answer: 'allow', reason: 'small' } },
  {
    type: 'operation.finished',
    data: {
      ...{ op: 'exec', outcome: 'failed', ok: false, durationMs: 1, ...error, exitCode: 1, signal: null },
      ...{ stdout: 'output of the command', stderr: { blob: hash, bytes: 3 }, bytes: 3 },
    },
  },
  { type: 'process.started', data: { process: 'proc_1', argv: ['sh'], cwd: '/w', pid: 1, tty: true } },
  {
    type: 'process.output',
    data: { process: 'proc_1', stream: 'stdout', offset: 0, data: 'words, words', encoding: 'utf8' },
  },
  {
    type: 'process.output',
    data: { process: 'proc_1', stream: 'terminal', offset: 0, data: 'd29yZHM=', encoding: 'base64' },
  },
  { type: 'process.exited', data: { process: 'proc_1', outcome: 'interrupted', exitCode: null, ...error } },
  {
    type: 'file.created',
    data: { path: 'src/a.ts', pathBase64: 'YQ==', kind: 'file', size: 1, after: hash },
  },
  {
    type: 'file.moved',
    data: { path: 'b', kind: 'directory', previousPath: 'a', previousPathBase64: 'YQ==' },
  },
  { type: 'watch.ready', data: { root: '/workspace' } },
  { type: 'watch.degraded', data: { reason: 'no more watches', uncovered: ['node_modules'] } },
  {
    type: 'network.refused',
    data: { host: 'example.org', port: 443, process: 'proc_1', reason: 'not listed' },
  },
  { type: 'agent.started', data: { agent: 'demo', instance: 'agt_1', process: 'proc_1' } },
  {
    type: 'agent.message',
    data: { direction: 'out', message: { jsonrpc: '2.0', method: 'session/update' } },
  },
  { type: 'agent.unparsed', data: { instance: 'agt_1', data: 'bm90IEpTT04=', encoding: 'base64' } },
  { type: 'turn.finished', data: { outcome: 'ok', stopReason: 'end_turn' } },
  { type: 'permission.resolved', data: { permission: 'perm_1', outcome: 'ok', answer: 'allow' } },
  { type: 'question.resolved', data: { question: 'qst_1', outcome: 'cancelled' } },
  { type: 'loop.finished', data: { loop: 'loop_1', outcome: 'ok' } },
  { type: 'journal.trimmed', data: { from: 1, to: 2, events: 2, bytes: 100, reason: 'events' } },
  { type: 'sink.failed', data: { sink: 'audit', ...error } },
  { type: 'limit.reached', data: { limit: 'output', max: 16 } },
  { type: 'log.message', data: { level: 'error', message: 'a message of some length' } },
  { type: 'foreign.event', data: { type: 'message.delta', id: 'e1', data: 'a text of another vocabulary' } },
]
