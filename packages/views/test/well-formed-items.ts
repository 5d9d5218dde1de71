import type { EventContext, JournalEvent, JsonObject } from '@vitrine/protocol'
import fc from 'fast-check'
import { event } from './journal-items.ts'

const step = fc.record({
  does: fc.constantFrom(
    'start',
    'nest',
    'finish',
    'spawn',
    'write',
    'exit',
    'create',
    'change',
    'move',
    'delete',
  ),
  which: fc.nat(),
  ok: fc.boolean(),
})

type Step = typeof step extends fc.Arbitrary<infer T> ? T : never

/** Valid sequences of events: every end has a start, offsets add up, and only existing files change. */
export const wellFormedItems: fc.Arbitrary<JournalEvent[]> = fc
  .array(step, { maxLength: 80, size: 'max' })
  .map(history)

function history(steps: readonly Step[]): JournalEvent[] {
  const events: JournalEvent[] = []
  const operations: string[] = []
  const processes: { readonly id: string; offset: number }[] = []
  const files: string[] = []
  const record = (type: string, data: JsonObject, context?: EventContext) =>
    events.push(event(events.length + 1, type, data, context))
  const pick = <T>(from: readonly T[], which: number): T | undefined => from[which % (from.length || 1)]
  const take = <T>(from: T[], which: number): T | undefined => from.splice(which % (from.length || 1), 1)[0]

  for (const [index, { does, which, ok }] of steps.entries()) {
    const outcome = ok ? 'ok' : 'failed'
    const open = pick(operations, which)
    const running = pick(processes, which)
    const file = pick(files, which)
    if (does === 'start' || (does === 'nest' && open !== undefined)) {
      const parent = does === 'nest' ? { parent: open } : {}
      record('operation.started', { op: 'exec', command: 'make', ...parent }, { operation: `op_${index}` })
      operations.push(`op_${index}`)
    } else if (does === 'finish' && open !== undefined) {
      take(operations, which)
      record('operation.finished', { op: 'exec', outcome, ok, durationMs: which }, { operation: open })
    } else if (does === 'spawn') {
      record('process.started', { process: `proc_${index}`, argv: ['make'], pid: index })
      processes.push({ id: `proc_${index}`, offset: 0 })
    } else if (does === 'write' && running !== undefined) {
      const { id, offset } = running
      record('process.output', { process: id, stream: 'stdout', offset, data: 'é\n', encoding: 'utf8' })
      running.offset += 3
    } else if (does === 'exit' && running !== undefined) {
      take(processes, which)
      record('process.exited', { process: running.id, outcome, exitCode: ok ? 0 : 1, signal: null })
    } else if (does === 'create') {
      record('file.created', { path: `src/${index}`, kind: 'file', size: which })
      files.push(`src/${index}`)
    } else if (does === 'change' && file !== undefined) {
      record('file.changed', { path: file, kind: 'file', size: which })
    } else if (does === 'move' && file !== undefined) {
      take(files, which)
      record('file.moved', { path: `lib/${index}`, previousPath: file, kind: 'file' })
      files.push(`lib/${index}`)
    } else if (does === 'delete' && file !== undefined) {
      take(files, which)
      record('file.deleted', { path: file, kind: 'file' })
    }
  }
  return events
}
