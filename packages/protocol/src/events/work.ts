import type { EventContext, EventInput, JournalEvent } from './envelope.ts'

/**
 * A kind of work that has one start event and exactly one end event (law 1). `id` reads the work's id from either event;
 * `carry` lists the fields of the start that the end must repeat.
 */
interface WorkKind {
  readonly starts: string
  readonly ends: string
  readonly id: (event: Identified) => unknown
  readonly carry: readonly string[]
}

type Identified = EventContext & { readonly data?: { readonly [key: string]: unknown } }

export const workKinds = {
  operation: {
    starts: 'operation.started',
    ends: 'operation.finished',
    id: (event) => event.operation,
    carry: ['op', 'parent'],
  },
  process: {
    starts: 'process.started',
    ends: 'process.exited',
    id: (event) => event.data?.process,
    carry: ['process'],
  },
  agent: {
    starts: 'agent.started',
    ends: 'agent.exited',
    id: (event) => event.data?.instance,
    carry: ['agent', 'instance'],
  },
  turn: { starts: 'turn.started', ends: 'turn.finished', id: (event) => event.turn, carry: [] },
  permission: {
    starts: 'permission.requested',
    ends: 'permission.resolved',
    id: (event) => event.data?.permission,
    carry: ['permission'],
  },
  question: {
    starts: 'question.requested',
    ends: 'question.resolved',
    id: (event) => event.data?.question,
    carry: ['question'],
  },
  run: { starts: 'run.started', ends: 'run.finished', id: (event) => event.run, carry: [] },
  loop: { starts: 'loop.started', ends: 'loop.finished', id: (event) => event.data?.loop, carry: ['loop'] },
} as const satisfies Record<string, WorkKind>

export type WorkKindName = keyof typeof workKinds

/** Work that has started and not ended, as the store records it. */
export interface OpenWork {
  readonly journal: string
  readonly kind: WorkKindName
  readonly id: string
  /** The `seq` of the start. */
  readonly startedAt: number
  readonly context: EventContext
  readonly data: { readonly [key: string]: unknown }
}

export interface WorkMark {
  readonly kind: WorkKindName
  readonly edge: 'start' | 'end'
}

const marks = new Map<string, WorkMark>(
  (Object.keys(workKinds) as WorkKindName[]).flatMap((kind): [string, WorkMark][] => [
    [workKinds[kind].starts, { kind, edge: 'start' }],
    [workKinds[kind].ends, { kind, edge: 'end' }],
  ]),
)

/** Whether an event type starts or ends work, and of which kind. */
export function workMark(type: string): WorkMark | undefined {
  return marks.get(type)
}

export function workId(kind: WorkKindName, event: Identified): string | undefined {
  const id = workKinds[kind].id(event)
  return typeof id === 'string' && id !== '' ? id : undefined
}

/** The fields of a start event that are needed to write its end. */
export function openWork(kind: WorkKindName, id: string, event: JournalEvent): OpenWork {
  const { caller, actor, sandbox, session, run, turn, operation, trace } = event
  const context = { caller, actor, sandbox, session, run, turn, operation, trace }
  return {
    journal: event.journal,
    kind,
    id,
    startedAt: event.seq,
    context: Object.fromEntries(Object.entries(context).filter(([, value]) => value !== undefined)),
    data: Object.fromEntries(
      workKinds[kind].carry.filter((key) => key in event.data).map((key) => [key, event.data[key]]),
    ),
  }
}

/** The end event of work whose host died: its real ending was not observed, so the outcome is `interrupted`. */
export function interruptedEnd(work: OpenWork, reason: string): EventInput {
  const ending = { ...work.data, outcome: 'interrupted', errorCode: 'interrupted', errorMessage: reason }
  return {
    type: workKinds[work.kind].ends,
    ...work.context,
    derived: true,
    data: work.kind === 'operation' ? { ...ending, ok: false } : ending,
  }
}
