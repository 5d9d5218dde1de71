import type { SandboxFileEvent } from '../files/file-event.ts'

/** Functions that get changes of files. None is awaited. */
export interface FileHooks {
  /** Every change. */
  onFile?(event: SandboxFileEvent): unknown
  onFileCreate?(event: SandboxFileEvent): unknown
  onFileChange?(event: SandboxFileEvent): unknown
  onFileDelete?(event: SandboxFileEvent): unknown
  /** Without it, a move is delivered as a deletion and a creation. */
  onFileMove?(event: SandboxFileEvent): unknown
}

const specific = {
  create: 'onFileCreate',
  change: 'onFileChange',
  delete: 'onFileDelete',
  move: 'onFileMove',
} as const

type FileHook = keyof FileHooks

/** The calls of hooks that a change makes, in order. */
export function hookCalls(
  hooks: FileHooks,
  event: SandboxFileEvent,
): readonly (readonly [hook: FileHook, event: SandboxFileEvent])[] {
  const events = event.type === 'move' && hooks.onFileMove === undefined ? partsOfMove(event) : [event]
  return events.flatMap((one) =>
    (['onFile', specific[one.type]] as const)
      .filter((hook) => hooks[hook] !== undefined)
      .map((hook) => [hook, one] as const),
  )
}

function partsOfMove(event: SandboxFileEvent): readonly [SandboxFileEvent, SandboxFileEvent] {
  const { previousPath = event.path, ...rest } = event
  const none = async () => undefined
  return [
    { ...rest, type: 'delete', path: previousPath, after: none, diff: none },
    { ...rest, type: 'create', before: none, diff: none },
  ]
}

export function hasFileHooks(hooks: FileHooks): boolean {
  return ['onFile', ...Object.values(specific)].some((hook) => hooks[hook as FileHook] !== undefined)
}
