import { mkdtempSync, rmSync } from 'node:fs'
import { openHost } from '@vitrine/host'
import { isGap, type JournalEvent } from '@vitrine/protocol'
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { survivors } from '../../packages/host/test/fixtures/survivors.ts'
import { runExample } from './run-example.ts'

describe('the persistent run', () => {
  // Not below /tmp: a sandbox has a /tmp of its own.
  const data = mkdtempSync('/var/tmp/persistent-run-')
  let stdout = ''

  beforeAll(async () => {
    stdout = await runExample('persistent-run/persistent-run.ts', data)
    return () => rmSync(data, { recursive: true, force: true })
  }, 130_000)

  async function recorded(): Promise<readonly JournalEvent[]> {
    const host = await openHost({ data })
    onTestFinished(() => host.close())
    const { journal } = await host.look(sandboxId())
    const { events, end } = await journal.read({ limit: 10_000 })
    expect(end).toBe(true)
    return events.filter((item) => !isGap(item))
  }

  const sandboxId = () => /sandbox\.destroyed +(sbx_\w+)/.exec(stdout)?.[1] ?? ''

  it('prints tokens, tool calls and file changes of a turn as they come, and its deliverable', () => {
    expect(stdout.split('\n').slice(0, 11)).toEqual([
      'Turn 1 makes a page.',
      '  agent A page it is. Let me look around first.',
      '  tool  List the workspace',
      '  tool  Write index.html',
      '  file  created index.html',
      "  tool  `wc -c index.html && grep -c '<' index.html && grep '<h1>' index.html`",
      '  agent Your page is ready: **index.html**, one file that opens in any',
      '        browser. The headline says “My bakery”; change it and the rest',
      '        follows.',
      '  page  <h1>My bakery</h1>',
      '        <p>Small today, and already here.</p>',
    ])
  })

  it('refines the artifact in the same session', async () => {
    expect(stdout).toContain(
      '        <p>And it was touched again, because you asked.</p>\n  same session: true\n',
    )
    const turns = (await recorded()).filter(({ type }) => type === 'turn.started')
    expect(turns).toHaveLength(3)
    expect(new Set(turns.map(({ session, sandbox }) => `${session} ${sandbox}`)).size).toBe(1)
  })

  it('prints the evidence of the aborted turn', () => {
    const [, third = ''] = /^Turn 3 .*\n([\s\S]*?)\n\n/m.exec(stdout) ?? []
    expect(third).toMatch(
      new RegExp(
        [
          '^ {2}agent I check every link of the page\\.',
          ' {2}tool {2}`sleep 600`',
          ' {2}AbortError, cancelled, with the evidence of the turn:',
          ' {2}events {2}[1-9]\\d*, the last: [a-z]+\\.[a-z]+, turn\\.finished',
          ' {2}usage {3}[1-9]\\d* tokens',
          ' {2}cursor {2}\\S+$',
        ].join('\n'),
      ),
    )
    expect(stdout).not.toContain('All links work')
  })

  it('reads on after the cursor, from the event after the aborted turn to the removal of the sandbox', async () => {
    const [, rest = ''] = /^The journal after the cursor:\n([\s\S]*?)\n\n/m.exec(stdout) ?? []
    const seqs = rest.split('\n').map((line) => Number(line.split(/\s+/)[1]))
    const events = await recorded()
    const aborted = events.findLast(({ type }) => type === 'turn.finished')
    expect(aborted?.data).toMatchObject({ outcome: 'cancelled' })
    expect(seqs).toEqual(events.map(({ seq }) => seq).filter((seq) => seq > (aborted?.seq ?? 0)))
    expect(rest).toMatch(/ sandbox\.destroyed /)
  })

  it('prints the record of the run', async () => {
    const [, record = ''] = /^The record of the run:\n([\s\S]*?)\n\n/m.exec(stdout) ?? []
    expect(record).toMatch(/^.* run\.started +baker (run_\w+)\n.* run\.finished +\1 cancelled$/)
    const [started, finished, ...others] = (await recorded()).filter(({ type }) => type.startsWith('run.'))
    expect([started?.type, finished?.type, others]).toEqual(['run.started', 'run.finished', []])
    expect(finished?.run).toBe(started?.run)
  })

  it('leaves no process running and removes its sandbox', async () => {
    expect(sandboxId()).toMatch(/^sbx_/)
    expect(survivors(sandboxId())).toEqual([])
    expect(stdout).toMatch(/\nSandboxes left: 0\n$/)
    const processes = (await recorded()).flatMap(({ type, data }) =>
      type === 'process.started' || type === 'process.exited' ? [{ type, process: data.process }] : [],
    )
    const started = processes.filter(({ type }) => type === 'process.started')
    const exited = processes.filter(({ type }) => type === 'process.exited')
    expect(exited.map(({ process }) => process).toSorted()).toEqual(
      started.map(({ process }) => process).toSorted(),
    )
    expect(started.length).toBeGreaterThan(1)
  })
})
