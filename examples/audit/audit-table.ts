import { basename } from 'node:path'
import { escapeForTerminal, type JournalEvent, type KnownEvent } from 'vitrine'

/** The lines of a table of one sandbox: time, who, what, outcome. A line is written when something has ended. */
export function auditTable(events: readonly JournalEvent[]): string[] {
  const lines = [line('time', 'who', 'what', 'outcome')]
  const started = new Map<string, KnownEvent<'operation.started'>>()
  const asked = new Map<string, string>()
  let root = ''
  for (const event of events) {
    const add = (what: string, outcome: string) =>
      lines.push(line(event.time.slice(11, 19), event.actor ?? 'host', what, outcome))
    switch (event.type) {
      case 'sandbox.created':
        root = `${event.data.root}/`
        break
      case 'operation.started':
        // An operation with a parent is a part of a call.
        if (event.data.parent === undefined) started.set(event.operation ?? '', event)
        break
      case 'operation.finished': {
        const start = started.get(event.operation ?? '')
        if (start === undefined) break
        const { outcome, errorCode = outcome, gate } = event.data
        add(`${start.data.op} ${subjectOf(start.data, root)}`, gate ? `denied by ${gate}` : String(errorCode))
        break
      }
      case 'session.created':
        add(`session with ${event.data.agent}`, 'ok')
        break
      case 'turn.finished':
        add('turn', event.data.outcome)
        break
      case 'permission.requested':
        asked.set(event.data.permission, titleOf(event.data.toolCall))
        break
      case 'permission.resolved':
        add(`permission: ${asked.get(event.data.permission)}`, event.data.answer ?? event.data.outcome)
    }
  }
  return lines
}

/** The command, file or program of an operation. */
function subjectOf({ command, path, argv }: KnownEvent<'operation.started'>['data'], root: string): string {
  if (typeof command === 'string') return command
  if (typeof path === 'string') return path.replace(root, '')
  return Array.isArray(argv) ? basename(String(argv[0])) : ''
}

function titleOf(toolCall: unknown): string {
  const hasTitle = typeof toolCall === 'object' && toolCall !== null && 'title' in toolCall
  return hasTitle ? String(toolCall.title) : 'a tool'
}

function line(time: string, who: string, what: string, outcome: string): string {
  return escapeForTerminal(`${time.padEnd(8)}  ${who.padEnd(15)}  ${what.padEnd(32)}  ${outcome}`)
}
