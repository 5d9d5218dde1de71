import type { Journal } from '@vitrine/journal'
import type { JournalItem } from '@vitrine/protocol'
import { changedFilesView, listChangedFiles, operationRows, operationTreeView, rebuild } from '@vitrine/views'
import pc from 'picocolors'

/** What the journal tells afterwards: the views over its events. */
export async function summarize(journal: Journal): Promise<string[]> {
  const events: JournalItem[] = []
  for (let after: string | undefined; ; ) {
    const page = await journal.read(after === undefined ? {} : { after })
    events.push(...page.events)
    if (page.end) break
    after = page.cursor
  }
  const rows = operationRows(rebuild(operationTreeView(), events))
  const files = listChangedFiles(rebuild(changedFilesView, events))
  const failed = rows.filter(({ operation }) => operation.outcome !== 'ok').length
  return [
    '',
    `${pc.bold('Journal')}         ${events.length} events`,
    `${pc.bold('Operations')}      ${rows.length}, ${failed} of them not ok`,
    ...rows.map(({ operation, depth }) => {
      const paint = operation.outcome === 'ok' ? pc.green : pc.red
      const took = operation.durationMs === undefined ? '' : pc.dim(`${operation.durationMs.toFixed(1)} ms`)
      return `                ${'  '.repeat(depth)}${operation.op} ${paint(operation.outcome ?? 'open')} ${took}`
    }),
    `${pc.bold('Changed files')}   ${files.map((file) => `${file.path} (${file.change})`).join(', ')}`,
  ]
}
