import type { EventInput, WorkKindName } from '@vitrine/protocol'

/** An event that neither starts nor ends work. */
export function message(text: string): EventInput {
  return { type: 'log.message', data: { level: 'info', message: text } }
}

export function messages(count: number, label = 'message'): EventInput[] {
  return Array.from({ length: count }, (_, index) => message(`${label} ${index + 1}`))
}

/** Output, which retention removes first. */
export function output(text: string, offset = 0): EventInput {
  return {
    type: 'process.output',
    data: { process: 'p', stream: 'stdout', offset, data: text, encoding: 'utf8' },
  }
}

/** An event that is neither output nor audit, which retention removes second. */
export function fileChanged(path: string): EventInput {
  return { type: 'file.changed', data: { path, kind: 'file' } }
}

export interface WorkEdges {
  readonly start: EventInput
  readonly end: EventInput
}

/** The start and the end of each kind of work that has both. */
export const work: { readonly [K in WorkKindName]: (id: string) => WorkEdges } = {
  operation: (operation) => ({
    start: { type: 'operation.started', operation, data: { op: 'exec' } },
    end: { type: 'operation.finished', operation, data: { op: 'exec', outcome: 'ok', ok: true } },
  }),
  process: (process) => ({
    start: { type: 'process.started', data: { process } },
    end: { type: 'process.exited', data: { process, outcome: 'ok', exitCode: 0 } },
  }),
  agent: (instance) => ({
    start: { type: 'agent.started', data: { agent: 'demo', instance } },
    end: { type: 'agent.exited', data: { agent: 'demo', instance, outcome: 'ok' } },
  }),
  turn: (turn) => ({
    start: { type: 'turn.started', turn, session: 'ses_a', data: {} },
    end: { type: 'turn.finished', turn, session: 'ses_a', data: { outcome: 'ok' } },
  }),
  permission: (permission) => ({
    start: { type: 'permission.requested', data: { permission } },
    end: { type: 'permission.resolved', data: { permission, outcome: 'ok' } },
  }),
  question: (question) => ({
    start: { type: 'question.requested', data: { question } },
    end: { type: 'question.resolved', data: { question, outcome: 'ok' } },
  }),
  run: (run) => ({
    start: { type: 'run.started', run, data: {} },
    end: { type: 'run.finished', run, data: { outcome: 'ok' } },
  }),
  loop: (loop) => ({
    start: { type: 'loop.started', data: { loop } },
    end: { type: 'loop.finished', data: { loop, outcome: 'ok' } },
  }),
}

export const workNames = Object.keys(work) as WorkKindName[]
