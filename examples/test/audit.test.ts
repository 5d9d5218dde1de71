import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { JournalEvent } from '@vitrine/protocol'
import { beforeAll, describe, expect, it } from 'vitest'
import { runExample } from './run-example.ts'

const secret = 'correct-horse-battery'

interface Span {
  readonly name: string
  readonly spanId: string
  readonly startTimeUnixNano: string
  readonly endTimeUnixNano: string
}

interface CollectedRequest {
  readonly resourceSpans?: readonly { readonly scopeSpans: readonly { readonly spans: readonly Span[] }[] }[]
}

describe('the audit', () => {
  // Not below /tmp: a sandbox has a /tmp of its own.
  const data = mkdtempSync('/var/tmp/audit-')
  let stdout = ''
  let auditText = ''
  let collectorText = ''
  let events: readonly JournalEvent[] = []
  let spans: readonly Span[] = []

  beforeAll(async () => {
    stdout = await runExample('audit/audit.ts', data)
    auditText = readFileSync(join(data, 'audit.jsonl'), 'utf8')
    collectorText = readFileSync(join(data, 'collector.jsonl'), 'utf8')
    events = linesOf(auditText).map((line) => JSON.parse(line) as JournalEvent)
    spans = linesOf(collectorText).flatMap((line) => spansOf(JSON.parse(line) as CollectedRequest))
    return () => rmSync(data, { recursive: true, force: true })
  }, 130_000)

  it('prints who did what, with the outcome, from the audit file', () => {
    const [, table = ''] = /^Who did what, .*:\n([\s\S]*?)\n\n/m.exec(stdout) ?? []
    const rows = table.split('\n').map((line) => line.replace(/^\d\d:\d\d:\d\d/, '').split(/\s{2,}/))
    expect(rows).toEqual([
      ['time', 'who', 'what', 'outcome'],
      ['', 'ada@example.com', 'start', 'ok'],
      ['', 'ada@example.com', 'write price.txt', 'ok'],
      ['', 'ada@example.com', 'exec echo "key: $DEPLOY_KEY"', 'ok'],
      ['', 'ada@example.com', 'exec rm -rf /srv/shop', 'denied by policy'],
      ['', 'host', 'spawn node', 'ok'],
      ['', 'ben@example.com', 'session with demo', 'ok'],
      ['', 'ben@example.com', 'read menu.md', 'file_not_found'],
      ['', 'ben@example.com', 'permission: Write menu.md', 'allow_once'],
      ['', 'ben@example.com', 'write menu.md', 'ok'],
      ['', 'ben@example.com', 'permission: `rm price.txt`', 'reject_once'],
      ['', 'ben@example.com', 'turn', 'ok'],
      ['', 'ada@example.com', 'destroy', 'ok'],
    ])
  })

  it('writes the actor and the run of each operation to the audit file, the denied one included', () => {
    const denied = events.find(({ data }) => data.errorCode === 'gate_refused')
    expect(denied).toMatchObject({
      type: 'operation.finished',
      actor: 'ada@example.com',
      run: 'deploy-17',
      data: { op: 'exec', outcome: 'failed', gate: 'policy' },
    })
    const started = events.find(
      ({ type, operation }) => type === 'operation.started' && operation === denied?.operation,
    )
    expect(started).toMatchObject({ actor: 'ada@example.com', data: { command: 'rm -rf /srv/shop' } })
    const kinds = new Set(events.map(({ type }) => type.split('.')[0]))
    expect([...kinds].toSorted()).toEqual(['operation', 'permission', 'sandbox', 'session', 'turn'])
  })

  it('ends every operation, and has a span with an end for each of them', () => {
    const idsOf = (wanted: string) =>
      events.flatMap(({ type, trace }) => (type === wanted && trace !== undefined ? [trace.spanId] : []))
    expect(idsOf('operation.finished').toSorted()).toEqual(idsOf('operation.started').toSorted())
    const operations = spans.filter(({ name }) => name.startsWith('sandbox.'))
    expect(operations.map(({ spanId }) => spanId).toSorted()).toEqual(idsOf('operation.started').toSorted())
    for (const { startTimeUnixNano, endTimeUnixNano } of spans)
      expect(BigInt(endTimeUnixNano)).toBeGreaterThanOrEqual(BigInt(startTimeUnixNano))
  })

  it('prints the spans as a tree below the requests, with the actors', () => {
    const [, tree = ''] = /^Spans in the collector:\n([\s\S]*?)\n\n/m.exec(stdout) ?? []
    expect(tree.split('\n').map((line) => line.replace(/ +\d+ ms */, ' ').trimEnd())).toEqual([
      'POST /sandboxes',
      '  sandbox.start ada@example.com',
      '    sandbox.prepare_workspace ada@example.com',
      '    sandbox.build_machine ada@example.com',
      '    sandbox.prepare_staging ada@example.com',
      '    sandbox.start_watching ada@example.com',
      'POST /deploy',
      '  sandbox.write ada@example.com',
      '  sandbox.exec ada@example.com',
      '  sandbox.exec ada@example.com   gate_refused',
      'POST /chat',
      '  sandbox.spawn',
      '  sandbox.read ben@example.com   file_not_found',
      '  sandbox.write ben@example.com',
      'DELETE /sandboxes',
      '  sandbox.destroy ada@example.com',
    ])
  })

  it('shows the secret to the caller, and masks it in the audit file and in the collector', () => {
    expect(stdout).toContain("Ada's command printed the key: true\n")
    for (const text of [stdout, auditText, collectorText]) expect(text).not.toContain(secret)
    for (const text of [auditText, collectorText]) expect(text).toContain('key: [redacted:DEPLOY_KEY]')
  })

  it('verifies the hash chain of the journal', () => {
    expect(stdout).toMatch(/\nHash chain of [1-9]\d* events verified: true\n$/)
  })
})

function linesOf(text: string): string[] {
  return text.trimEnd().split('\n')
}

function spansOf({ resourceSpans = [] }: CollectedRequest): Span[] {
  return resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap(({ spans }) => spans))
}
