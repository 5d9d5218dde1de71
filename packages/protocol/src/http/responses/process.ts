import * as z from 'zod/mini'
import { component } from '../../component.ts'
import { outcome } from '../values.ts'

const exitFields = () => ({
  outcome: outcome(),
  exitCode: z.nullable(z.int()),
  signal: z.nullable(z.string()),
  /** The limit of the sandbox that the command ran into. */
  limit: z.exactOptional(
    z.object({
      limit: z.enum(['memoryBytes', 'pids', 'tmpBytes', 'diskBytes', 'disk']),
      max: z.number(),
      message: z.string(),
    }),
  ),
})

export const execResult = component('ExecResult', () =>
  z.object({
    ...exitFields(),
    stdout: z.string(),
    stderr: z.string(),
    truncated: z.boolean(),
    durationMs: z.number(),
  }),
)

export const processExit = component('ProcessExit', () => z.object(exitFields()))

export const processInfo = component('ProcessInfo', () =>
  z.object({
    id: z.string(),
    argv: z.array(z.string()),
    tty: z.boolean(),
    startedAt: z.string(),
    state: z.enum(['running', 'waiting', 'exited']),
    restarts: z.int(),
    owner: z.exactOptional(z.string()),
    pid: z.exactOptional(z.int()),
    exit: z.exactOptional(processExit()),
    // The same values under the names that sandbox-agent clients use.
    command: z.string(),
    args: z.array(z.string()),
    interactive: z.boolean(),
    status: z.enum(['running', 'exited']),
    exitCode: z.nullable(z.int()),
    createdAtMs: z.number(),
  }),
)

export const logEntry = component('LogEntry', () =>
  z.object({
    sequence: z.int(),
    stream: z.enum(['stdout', 'stderr', 'pty']),
    timestampMs: z.number(),
    data: z.string(),
    encoding: z.literal('base64'),
    offset: z.int(),
    skipped: z.exactOptional(z.int()),
  }),
)

export const logPage = component('LogPage', () =>
  z.object({
    processId: z.string(),
    stream: z.enum(['stdout', 'stderr', 'combined', 'pty']),
    entries: z.array(logEntry()),
  }),
)

export const newTerminalSize = component('TerminalSize', () => z.object({ cols: z.int(), rows: z.int() }))

/** A chunk of `…/view`: base64, unredacted. */
export const outputChunk = component('OutputChunk', () =>
  z.object({ stream: z.enum(['stdout', 'stderr', 'terminal']), data: z.string() }),
)

/** A text message from the daemon on a terminal's WebSocket; output comes as binary messages. */
export const terminalMessage = component('TerminalMessage', () =>
  z.discriminatedUnion('type', [
    z.object({ type: z.literal('ready'), processId: z.string() }),
    z.object({ type: z.literal('exit'), ...exitFields() }),
    z.object({ type: z.literal('error'), message: z.string(), code: z.exactOptional(z.string()) }),
  ]),
)

export const ptyUpdate = component('PtyUpdate', () =>
  z.object({
    sessionId: z.exactOptional(z.int()),
    output: z.string(),
    exitCode: z.exactOptional(z.nullable(z.int())),
    signal: z.exactOptional(z.nullable(z.string())),
    originalTokenCount: z.exactOptional(z.int()),
    wallTimeMs: z.number(),
  }),
)
