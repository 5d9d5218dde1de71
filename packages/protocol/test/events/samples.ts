import type { EventInput, EventType } from '../../src/index.ts'

const hash = `sha256:${'a'.repeat(64)}`
const error = { errorType: 'Error', errorCode: 'x', errorMessage: 'y', retryable: 'unknown' }

/** A valid event of every type of the catalogue, with its optional fields. */
export const samples: { readonly [T in EventType]: EventInput } = {
  'sandbox.created': { type: 'sandbox.created', data: { provider: 'local', root: '/w' } },
  'sandbox.ready': { type: 'sandbox.ready', data: {} },
  'sandbox.degraded': { type: 'sandbox.degraded', data: { feature: 'isolation', reason: 'no bwrap' } },
  'sandbox.paused': { type: 'sandbox.paused', data: {} },
  'sandbox.resumed': { type: 'sandbox.resumed', data: {} },
  'sandbox.stopped': { type: 'sandbox.stopped', data: { reason: 'requested' } },
  'sandbox.destroyed': { type: 'sandbox.destroyed', data: { reason: 'requested' } },
  'sandbox.failed': { type: 'sandbox.failed', data: error },
  'operation.started': { type: 'operation.started', operation: 'op_1', data: { op: 'exec', parent: 'op_0' } },
  'operation.progress': { type: 'operation.progress', operation: 'op_1', data: { op: 'exec' } },
  'operation.finished': {
    type: 'operation.finished',
    operation: 'op_1',
    data: {
      op: 'exec',
      outcome: 'failed',
      ok: false,
      durationMs: 1.5,
      ...error,
      exitCode: 1,
      signal: null,
      stdout: 'out',
      stderr: { blob: hash, bytes: 3, mediaType: 'text/plain', redacted: true },
      bytes: 3,
    },
  },
  'process.started': {
    type: 'process.started',
    data: { process: 'proc_1', argv: ['sh'], cwd: '/w', pid: 1, tty: true },
  },
  'process.output': {
    type: 'process.output',
    data: { process: 'proc_1', stream: 'stdout', offset: 0, data: 'x', encoding: 'utf8', skipped: 0 },
  },
  'process.exited': {
    type: 'process.exited',
    data: {
      process: 'proc_1',
      outcome: 'failed',
      exitCode: null,
      signal: 'SIGKILL',
      durationMs: 0,
      ...error,
    },
  },
  'file.created': {
    type: 'file.created',
    data: { path: 'a', pathBase64: 'YQ==', kind: 'file', size: 1, after: hash, redacted: false },
  },
  'file.changed': {
    type: 'file.changed',
    data: { path: 'a', kind: 'file', size: 1, before: hash, after: hash },
  },
  'file.deleted': { type: 'file.deleted', data: { path: 'a', kind: 'symlink', before: hash } },
  'file.moved': {
    type: 'file.moved',
    data: { path: 'b', kind: 'directory', previousPath: 'a', previousPathBase64: 'YQ==' },
  },
  'watch.ready': { type: 'watch.ready', data: { root: '/w' } },
  'watch.degraded': { type: 'watch.degraded', data: { reason: 'limit', uncovered: ['node_modules'] } },
  'network.allowed': { type: 'network.allowed', data: { host: 'a.b', port: 443, bytesIn: 1, bytesOut: 2 } },
  'network.failed': {
    type: 'network.failed',
    data: { connection: 'conn_1', host: 'a.b', port: 443, error: 'ECONNREFUSED' },
  },
  'network.refused': {
    type: 'network.refused',
    data: { host: 'a.b', port: 0, process: 'proc_1', reason: 'not on the list', allow: 'a.b:443' },
  },
  'agent.installed': { type: 'agent.installed', data: { agent: 'demo', version: '1' } },
  'agent.started': { type: 'agent.started', data: { agent: 'demo', instance: 'agt_1', process: 'proc_1' } },
  'agent.message': {
    type: 'agent.message',
    data: { instance: 'agt_1', direction: 'out', message: { jsonrpc: '2.0', id: 1 } },
  },
  'agent.unparsed': { type: 'agent.unparsed', data: { instance: 'agt_1', data: '?', encoding: 'base64' } },
  'agent.exited': {
    type: 'agent.exited',
    data: { agent: 'demo', instance: 'agt_1', outcome: 'ok', exitCode: 0, signal: null, durationMs: 3 },
  },
  'session.created': { type: 'session.created', session: 'ses_1', data: { agent: 'demo' } },
  'session.updated': { type: 'session.updated', session: 'ses_1', data: {} },
  'session.closed': { type: 'session.closed', session: 'ses_1', data: { reason: 'requested' } },
  'prompt.queued': { type: 'prompt.queued', turn: 'turn_1', data: { position: 1, promptHash: 'ab12' } },
  'prompt.dropped': { type: 'prompt.dropped', turn: 'turn_1', data: { reason: 'interrupted' } },
  'turn.started': { type: 'turn.started', turn: 'turn_1', data: { index: 0 } },
  'turn.finished': {
    type: 'turn.finished',
    turn: 'turn_1',
    data: { outcome: 'ok', stopReason: 'end_turn', durationMs: 4 },
  },
  'permission.requested': { type: 'permission.requested', data: { permission: 'perm_1' } },
  'permission.resolved': {
    type: 'permission.resolved',
    data: { permission: 'perm_1', outcome: 'ok', answer: 'allow' },
  },
  'question.requested': { type: 'question.requested', data: { question: 'qst_1' } },
  'question.resolved': { type: 'question.resolved', data: { question: 'qst_1', outcome: 'cancelled' } },
  'run.started': { type: 'run.started', run: 'run_1', data: { name: 'fix' } },
  'run.finished': { type: 'run.finished', run: 'run_1', data: { outcome: 'timeout', durationMs: 5 } },
  'loop.started': { type: 'loop.started', data: { loop: 'loop_1', name: 'improve' } },
  'loop.planned': { type: 'loop.planned', data: { loop: 'loop_1' } },
  'loop.iterated': { type: 'loop.iterated', data: { loop: 'loop_1', iteration: 2 } },
  'loop.finished': { type: 'loop.finished', data: { loop: 'loop_1', outcome: 'interrupted' } },
  'snapshot.created': { type: 'snapshot.created', data: { snapshot: 'snap_1' } },
  'snapshot.restored': { type: 'snapshot.restored', data: { snapshot: 'snap_1' } },
  'journal.recovered': {
    type: 'journal.recovered',
    data: { reason: 'crash', closed: [{ kind: 'operation', id: 'op_1', startedAt: 1 }] },
  },
  'journal.trimmed': {
    type: 'journal.trimmed',
    data: { from: 1, to: 2, events: 2, bytes: 100, reason: 'age' },
  },
  'sink.failed': { type: 'sink.failed', data: { sink: 'audit', ...error } },
  'sink.recovered': { type: 'sink.recovered', data: { sink: 'audit', failedForMs: 10 } },
  'host.started': { type: 'host.started', data: { version: '0.1.0' } },
  'host.stopped': { type: 'host.stopped', data: { reason: 'requested' } },
  'limit.reached': { type: 'limit.reached', data: { limit: 'output', max: 16 } },
  'log.message': { type: 'log.message', data: { level: 'warn', message: 'hi' } },
  'foreign.event': { type: 'foreign.event', data: { type: 'x', id: '1', data: [null] } },
}
