import { isGap, isId, isVitrineError, type JournalItem, VitrineError } from '@vitrine/protocol'
import { checkOptions, sinkOptions } from '@vitrine/protocol/options'
import { encodeLine } from './line.ts'
import type { Sink, SinkWriteOptions } from './sink.ts'

/** Writes into a sandbox without an operation and without the watcher, so that writing the log causes no new events. */
export interface PrivateWriter {
  /**
   * Appends complete lines to a file in a sandbox's workspace, all or none of them, and creates its directories.
   * Throws a `VitrineError` with the code `not_found` when the sandbox was deleted.
   */
  append(
    target: { readonly sandbox: string; readonly path: string },
    lines: string,
    options: SinkWriteOptions,
  ): Promise<void>
}

export interface WorkspaceJsonlSinkOptions {
  /** Default: that of the host whose `sinks` have it. */
  readonly writer?: PrivateWriter
  /** Path inside the workspace; `{sandbox}` is replaced by the id. Default `logs/events-{sandbox}.jsonl`. */
  readonly path?: string
}

export interface WorkspaceJsonlSink extends Sink {
  /** The number of events dropped because their sandbox was deleted, or because its own files are in the way. */
  readonly dropped: number
  /** The path of the file in the workspace of a sandbox. */
  pathIn(sandbox: string): string
  /** Gives the writer of a host to a sink that has none. */
  writeWith(writer: PrivateWriter): void
}

export function isWorkspaceSink(sink: Sink): sink is WorkspaceJsonlSink {
  return sink.kind === kind && 'writeWith' in sink
}

const kind = 'workspace-jsonl'

/**
 * Appends each sandbox's events to a file in that sandbox's own workspace; events of no sandbox are skipped.
 *
 * @example
 * await openHost({ sinks: [{ name: 'workspace', sink: workspaceJsonlSink({ path: 'logs/{sandbox}.jsonl' }) }] })
 */
export function workspaceJsonlSink(options: WorkspaceJsonlSinkOptions = {}): WorkspaceJsonlSink {
  checkOptions('workspaceJsonlSink', sinkOptions.workspaceJsonl, options)
  const { path: template = 'logs/events-{sandbox}.jsonl' } = options
  checkTemplate(template)
  let { writer } = options
  let dropped = 0
  let done = { key: '', sandboxes: new Set<string>() }
  return {
    kind,
    get dropped() {
      return dropped
    },
    pathIn: (sandbox) => pathFor(template, sandbox),
    writeWith(given) {
      writer ??= given
    },
    async write({ events, key }, { signal, onObserverError }) {
      if (writer === undefined) throw withoutWriter()
      if (done.key !== key) done = { key, sandboxes: new Set() }
      const failures = new Map<string, unknown>()
      for (const [sandbox, items] of bySandbox(events)) {
        if (done.sandboxes.has(sandbox)) continue
        signal.throwIfAborted()
        try {
          const path = pathFor(template, sandbox)
          await writer.append({ sandbox, path }, items.map(encodeLine).join(''), { signal })
        } catch (error) {
          if (!isLasting(error)) {
            failures.set(sandbox, error)
            continue
          }
          dropped += items.length
          if (error.code !== 'not_found') onObserverError?.('workspaceJsonlSink', error)
        }
        done.sandboxes.add(sandbox)
      }
      if (failures.size > 0) {
        signal.throwIfAborted()
        throw unwritableError(failures)
      }
      done = { key: '', sandboxes: new Set() }
    },
  }
}

/** A sandbox whose own files or limits are in the way must not hold up the events of the others. */
function isLasting(error: unknown): error is VitrineError {
  return isVitrineError(error) && (error.retryable === false || error.code === 'disk_limit')
}

function withoutWriter(): VitrineError {
  return new VitrineError(
    'sink_unwritable',
    'workspaceJsonlSink: expected a writer, got none. Give the sink to `sinks` of `openHost` or `createSandbox`, which have one, or give it a `writer`.',
  )
}

function bySandbox(events: readonly JournalItem[]): Map<string, JournalItem[]> {
  const groups = new Map<string, JournalItem[]>()
  for (const item of events) {
    const sandbox = sandboxOf(item)
    if (sandbox === undefined) continue
    const group = groups.get(sandbox)
    if (group) group.push(item)
    else groups.set(sandbox, [item])
  }
  return groups
}

/** A gap has no sandbox field, but the journal of a sandbox has the sandbox's id. */
function sandboxOf(item: JournalItem): string | undefined {
  if (!isGap(item)) return item.sandbox
  return isId('sandbox', item.journal) ? item.journal : undefined
}

function checkTemplate(template: string): void {
  const refuse = (expected: string) =>
    new VitrineError(
      'argument_invalid',
      `workspaceJsonlSink: expected \`path\` ${expected}, got ${JSON.stringify(template)}.`,
    )
  if (typeof template !== 'string' || template.includes('\0')) throw refuse('to be the path of a file')
  if (/[{}]/.test(template.replaceAll('{sandbox}', ''))) throw refuse('to have no placeholder but {sandbox}')
  if (/^([/\\]|[a-z]:)/i.test(template)) throw refuse('to be relative to the workspace')
  if (/[*?]/.test(template)) throw refuse('to have no "*" and no "?"')
  const segments = template.split(/[/\\]/)
  if (segments.includes('..')) throw refuse('to stay inside the workspace')
  if (['', '.'].includes(segments.at(-1) ?? '')) throw refuse('to end with the name of a file')
  if (segments.some((segment) => ['', '.'].includes(segment)))
    throw refuse('to have no empty names and no "."')
}

/** Replaces special characters in the id. Each sandbox has its own workspace, so equal results do not collide. */
function pathFor(template: string, sandbox: string): string {
  return template.replaceAll('{sandbox}', sandbox.replace(/[^\w-]/g, '_'))
}

function unwritableError(failures: ReadonlyMap<string, unknown>): VitrineError {
  const sandboxes = [...failures.keys()]
  const errors = [...failures.values()]
  const [first] = errors
  const reason = first instanceof Error ? first.message : String(first)
  const others = errors.length > 1 ? ` and ${errors.length - 1} more` : ''
  return new VitrineError(
    'sink_unwritable',
    `Expected to append to the workspace of ${sandboxes[0]}${others}, got: ${reason}`,
    { cause: errors.length === 1 ? first : new AggregateError(errors), details: { sandboxes } },
  )
}
