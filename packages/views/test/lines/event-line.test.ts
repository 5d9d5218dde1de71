import type { EventContext, JournalItem, JsonObject } from '@vitrine/protocol'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { eventLine, eventParts } from '../../src/index.ts'
import { anyItems } from '../any-items.ts'
import { event, gap } from '../journal-items.ts'

const sandbox = 'sbx_1'

type Row = [type: string, data: JsonObject, said: string, context?: EventContext]

const rows: Row[] = [
  ['sandbox.created', { provider: 'local', root: '/w' }, 'plain sbx_1 local /w', { sandbox }],
  ['sandbox.ready', {}, 'good sbx_1', { sandbox }],
  ['sandbox.degraded', { feature: 'network', reason: 'no slirp' }, 'warn network: no slirp'],
  ['sandbox.paused', {}, 'plain sbx_1', { sandbox }],
  ['sandbox.resumed', {}, 'plain sbx_1', { sandbox }],
  ['sandbox.stopped', { reason: 'requested' }, 'plain sbx_1 requested', { sandbox }],
  ['sandbox.destroyed', { reason: 'requested' }, 'plain sbx_1 requested', { sandbox }],
  [
    'sandbox.failed',
    { errorCode: 'internal', errorMessage: 'no disk' },
    'bad sbx_1 internal: no disk',
    { sandbox },
  ],

  ['operation.started', { op: 'exec', command: 'npm test' }, 'plain exec  npm test'],
  ['operation.started', { op: 'exec', command: ['npm', 'run', 'a b'] }, "plain exec  npm run 'a b'"],
  ['operation.started', { op: 'write', path: 'src/a.ts' }, 'plain write  src/a.ts'],
  ['operation.started', { op: 'running' }, 'plain running'],
  ['operation.progress', { op: 'extract', done: 3 }, 'dim extract {"done":3}'],
  ['operation.finished', { op: 'exec', outcome: 'ok', exitCode: 0, durationMs: 12 }, 'good exec ok 12 ms'],
  ['operation.finished', { op: 'read', outcome: 'ok', bytes: 2048 }, 'good read ok 2 KiB'],
  [
    'operation.finished',
    { op: 'exec', outcome: 'failed', exitCode: 3, durationMs: 1200 },
    'bad exec failed exit 3 1.2 s',
  ],
  [
    'operation.finished',
    { op: 'exec', outcome: 'failed', exitCode: null, signal: 'SIGKILL' },
    'bad exec failed SIGKILL',
  ],
  [
    'operation.finished',
    { op: 'write', outcome: 'failed', errorCode: 'gate_refused', errorMessage: 'not here' },
    'bad write failed gate_refused: not here',
  ],
  [
    'operation.finished',
    { op: 'exec', outcome: 'failed', errorType: 'Error', errorMessage: { blob: 'sha256:1', bytes: 70_000 } },
    'bad exec failed Error: (68.4 KiB in a blob)',
  ],
  ['operation.finished', { op: 'exec', outcome: 'cancelled' }, 'warn exec cancelled'],
  ['operation.finished', { op: 'exec', outcome: 'interrupted' }, 'bad exec interrupted'],

  ['process.started', { process: 'p', argv: ['sh', '-c', 'ls'], pid: 7 }, 'plain sh -c ls (pid 7)'],
  ['process.output', { stream: 'stdout', data: 'one\ntwo\n', encoding: 'utf8' }, 'dim one⏎two'],
  ['process.output', { stream: 'stderr', data: 'oh\r\n', encoding: 'utf8' }, 'warn oh'],
  [
    'process.output',
    { stream: 'stdout', data: 'AAEC', encoding: 'base64' },
    'dim (3 bytes that are not text)',
  ],
  [
    'process.output',
    { stream: 'stdout', data: 'end', encoding: 'utf8', skipped: 4096 },
    'dim (4 KiB skipped) end',
  ],
  ['process.exited', { process: 'p', outcome: 'ok', exitCode: 0 }, 'good p ok'],

  ['file.created', { path: 'a.txt', kind: 'file', size: 5 }, 'good a.txt 5 bytes'],
  ['file.created', { path: 'src', kind: 'directory' }, 'good src/'],
  ['file.changed', { path: 'a.txt', kind: 'file', size: 1536 }, 'plain a.txt 1.5 KiB'],
  ['file.changed', { path: 'a�', pathBase64: 'Yf8=', kind: 'file' }, 'plain a\\udcff'],
  ['file.deleted', { path: 'a.txt', kind: 'file' }, 'warn a.txt'],
  ['file.moved', { path: 'b', previousPath: 'a', kind: 'file' }, 'plain a → b'],
  ['watch.ready', { root: '/w' }, 'dim /w'],
  ['watch.degraded', { reason: 'too many', uncovered: ['x', 'y'] }, 'warn too many x, y'],

  ['network.allowed', { host: 'example.com', port: 443 }, 'dim example.com:443'],
  ['network.failed', { host: 'a.b', port: 443, error: 'ECONNREFUSED' }, 'warn a.b:443 ECONNREFUSED'],
  ['network.refused', { host: '::1', port: 80, reason: 'policy' }, 'warn [::1]:80 policy'],

  ['agent.installed', { agent: 'demo', version: '1.2' }, 'good demo 1.2'],
  ['agent.started', { agent: 'demo', instance: 'agt_1' }, 'accent demo agt_1'],
  [
    'agent.message',
    {
      direction: 'in',
      message: { id: 3, method: 'session/prompt', params: { prompt: [{ type: 'text', text: 'hi' }] } },
    },
    'plain → agent session/prompt #3 hi',
  ],
  [
    'agent.message',
    {
      direction: 'out',
      message: {
        method: 'session/update',
        params: { update: { sessionUpdate: 'agent_message_chunk', content: { type: 'text', text: 'yo' } } },
      },
    },
    'plain ← agent session/update agent_message_chunk yo',
  ],
  [
    'agent.message',
    { direction: 'out', message: { id: 3, result: { stopReason: 'end_turn' } } },
    'plain ← agent #3 {"stopReason":"end_turn"}',
  ],
  [
    'agent.message',
    { direction: 'out', message: { id: 3, error: { code: -1, message: 'no key' } } },
    'bad ← agent #3 error no key',
  ],
  [
    'agent.started',
    { agent: 'demo', instance: 'agt_1', credentials: ['API_KEY', 'login'] },
    'accent demo agt_1 with API_KEY, login',
  ],
  [
    'agent.message',
    {
      direction: 'out',
      replay: true,
      message: {
        method: 'session/update',
        params: { update: { sessionUpdate: 'tool_call_update', toolCallId: 'c1', status: 'completed' } },
      },
    },
    'plain ← agent (replay) session/update tool_call_update c1 completed',
  ],
  [
    'agent.message',
    { direction: 'out', message: { blob: 'sha256:1', bytes: 2_097_152 } },
    'plain ← agent (2 MiB in a blob)',
  ],
  ['agent.unparsed', { data: 'Warning: old', encoding: 'utf8' }, 'warn Warning: old'],
  ['agent.unparsed', { data: 'AAEC', encoding: 'base64' }, 'warn (3 bytes that are not text)'],
  ['agent.exited', { agent: 'demo', outcome: 'failed', exitCode: 1 }, 'bad demo failed exit 1'],

  ['session.created', { agent: 'demo' }, 'accent demo ses_1', { session: 'ses_1' }],
  ['session.updated', { title: 'x' }, 'dim ses_1 {"title":"x"}', { session: 'ses_1' }],
  ['session.closed', { reason: 'requested' }, 'plain ses_1 requested', { session: 'ses_1' }],
  [
    'prompt.queued',
    { position: 2, prompt: [{ type: 'text', text: 'Fix it' }] },
    'dim turn_1 waits behind 2 Fix it',
    { turn: 'turn_1' },
  ],
  ['prompt.queued', { position: 0 }, 'dim turn_1 waits for its agent', { turn: 'turn_1' }],
  [
    'prompt.dropped',
    { reason: 'failed', errorCode: 'agent_exited' },
    'warn turn_1 failed agent_exited',
    { turn: 'turn_1' },
  ],
  ['turn.started', { index: 2 }, 'accent turn_1 (2)', { turn: 'turn_1' }],
  [
    'turn.finished',
    { outcome: 'ok', stopReason: 'end_turn', durationMs: 5 },
    'good turn_1 end_turn ok 5 ms',
    { turn: 'turn_1' },
  ],
  [
    'agent.exited',
    { agent: 'demo', outcome: 'cancelled', signal: 'SIGTERM', endedBy: 'host' },
    'warn demo cancelled SIGTERM by the host',
  ],
  [
    'session.created',
    { agent: 'demo', forkedFrom: 'ses_0' },
    'accent demo ses_1 forked from ses_0',
    { session: 'ses_1' },
  ],
  [
    'session.closed',
    { reason: 'gone', exitCode: 1, errorCode: 'agent_exited', endedBy: 'agent' },
    'bad ses_1 gone exit 1 agent_exited',
    { session: 'ses_1' },
  ],
  [
    'turn.started',
    {
      index: 2,
      prompt: [
        { type: 'text', text: 'Fix it' },
        { type: 'image', bytes: 9 },
      ],
    },
    'accent turn_1 (2) Fix it (image 9 bytes)',
    { turn: 'turn_1' },
  ],
  [
    'turn.finished',
    { outcome: 'ok', stopReason: 'end_turn', modelError: { sign: 'message', text: '400' } },
    'bad turn_1 end_turn ok the model failed: 400',
    { turn: 'turn_1' },
  ],
  [
    'permission.resolved',
    { permission: 'perm_1', outcome: 'ok', answer: 'allow_once', by: 'jo' },
    'good perm_1 allow_once ok by jo',
  ],
  [
    'question.resolved',
    { question: 'qst_1', outcome: 'ok', action: 'accept', by: 'jo' },
    'good qst_1 accept ok by jo',
  ],
  ['permission.requested', { permission: 'perm_1', toolCall: { title: 'rm x' } }, 'accent perm_1 rm x'],
  ['permission.resolved', { permission: 'perm_1', outcome: 'ok', answer: 'allow' }, 'good perm_1 allow ok'],
  ['question.requested', { question: 'qst_1', message: 'Which?' }, 'accent qst_1 Which?'],
  ['question.resolved', { question: 'qst_1', outcome: 'cancelled' }, 'warn qst_1 cancelled'],

  ['run.started', { name: 'fix' }, 'accent fix run_1', { run: 'run_1' }],
  ['run.started', { name: 'fix', continues: 'run_0' }, 'accent fix run_1 continues run_0', { run: 'run_1' }],
  ['run.finished', { outcome: 'timeout' }, 'bad run_1 timeout', { run: 'run_1' }],
  ['loop.started', { loop: 'loop_1', name: 'n' }, 'accent n loop_1'],
  ['loop.planned', { loop: 'loop_1', tasks: 2 }, 'plain loop_1 {"tasks":2}'],
  ['loop.iterated', { loop: 'loop_1', iteration: 0 }, 'plain loop_1 iteration 0'],
  ['loop.finished', { loop: 'loop_1', outcome: 'ok' }, 'good loop_1 ok'],
  ['snapshot.created', { snapshot: 'snap_1' }, 'good snap_1'],
  ['snapshot.restored', { snapshot: 'snap_1' }, 'accent snap_1'],

  ['journal.recovered', { reason: 'host died', closed: [{}, {}] }, 'warn closed 2 as interrupted: host died'],
  [
    'journal.trimmed',
    { from: 1, to: 9, events: 4, bytes: 1024, reason: 'age' },
    'dim 4 of events 1–9, 1 KiB: age',
  ],
  ['sink.failed', { sink: 'audit', errorCode: 'sink_rejected' }, 'bad audit sink_rejected'],
  ['sink.recovered', { sink: 'audit', failedForMs: 61_000 }, 'good audit after 1 min 1 s'],
  ['host.started', { version: '0.1.0' }, 'accent 0.1.0'],
  ['host.stopped', { reason: 'requested' }, 'plain requested'],
  ['limit.reached', { limit: 'output', max: 16 }, 'warn output 16'],
  ['log.message', { level: 'error', message: 'oh no' }, 'bad error oh no'],
  ['log.message', { level: 'constructor', message: 'hm' }, 'plain constructor hm'],
  ['foreign.event', { type: 'message.delta', data: { text: 'hi' } }, 'plain message.delta {"text":"hi"}'],

  ['desktop.clicked', { x: 1 }, 'plain {"x":1}'],
  ['newer.type', { a: [1, 'x'] }, 'plain {"a":[1,"x"]}'],
  ['newer.type', {}, 'plain '],
  ['constructor', {}, 'plain '],
]

describe('eventParts', () => {
  it.each(rows)('summarizes %s with %j', (type, data, summary, context) => {
    const { tone, text } = eventParts(event(5, type, data, context))
    expect(`${tone} ${text}`).toBe(summary)
  })

  it('names the missing events of a gap', () => {
    expect(eventParts(gap(5, 9, [], 'trimmed'))).toEqual({
      time: '',
      type: 'journal.gap',
      tone: 'warn',
      text: 'events 5–9 are missing: trimmed',
    })
    expect(eventParts(gap(5, 5, [], 'trimmed')).text).toBe('event 5 is missing: trimmed')
  })
})

describe('eventLine', () => {
  it('has the time, the seq, the type and the summary in columns', () => {
    expect(eventLine(event(5, 'file.created', { path: 'a', kind: 'file' }))).toBe(
      '10:15:05.000      5 file.created         a',
    )
    expect(eventLine(gap(5, 9))).toBe(
      '                    journal.gap          events 5–9 are missing: trimmed',
    )
  })

  it('leaves an invalid time blank and converts any time zone to UTC', () => {
    const line = (time: string) => eventLine({ ...event(5, 'host.stopped'), time })
    expect(line('yesterday')).toBe('                  5 host.stopped')
    expect(line('2026-01-02T01:00:00+02:00')).toBe('23:00:00.000      5 host.stopped')
  })

  it('is cut to its width', () => {
    const long = event(5, 'log.message', { level: 'info', message: 'x'.repeat(1000) })
    expect([...eventLine(long)]).toHaveLength(160)
    expect(eventLine(long, { width: 50 })).toBe('10:15:05.000      5 log.message          info xxx…')
    expect(eventLine(long, { width: 15 })).toBe('10:15:05.000  …')
    expect(eventLine(long, { width: Number.POSITIVE_INFINITY }).endsWith('xxx')).toBe(true)
  })

  it.each([
    [
      'output',
      event(1, 'process.output', { stream: 'stdout', data: '\u001b]52;c;eA\u0007', encoding: 'utf8' }),
    ],
    ['a path', event(1, 'file.created', { path: '\u001b]0;x\u0007\u202E', kind: 'file' })],
    ['a type', event(1, 'x\u001b[2J\u009b1m', {})],
    ['a session id', event(1, 'session.closed', {}, { session: '\u001bc' })],
    ['JSON', event(1, 'newer.type', { '\u009b': '\u202E\u2028' })],
    ['a reason for a gap', gap(1, 2, [], '\u001b[A\n\u001b[2K')],
  ])('escapes control characters in %s', (_what, item: JournalItem) => {
    expect(eventLine(item)).not.toMatch(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u)
    expect(eventLine(item)).toMatch(/\\(x|u)/)
  })

  it('is one safe line within its width for any event', () => {
    fc.assert(
      fc.property(anyItems, fc.nat({ max: 200 }), (items, width) => {
        for (const item of items) {
          const line = eventLine(item, { width })
          expect([...line].length).toBeLessThanOrEqual(width)
          expect(line).not.toMatch(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u)
        }
      }),
    )
  })
})
