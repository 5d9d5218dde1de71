import type { Journal } from '@vitrine/journal'
import {
  type Command,
  type PtyStart,
  type PtyTool,
  type PtyUpdate,
  type SpawnOptions,
  VitrineError,
} from '@vitrine/protocol'
import { requireWholeNumber } from '@vitrine/protocol/primitives'
import { argvOf } from '../processes/command.ts'
import type { OutputListener } from '../processes/running.ts'
import { type PtyProcess, PtySession, type SessionUpdate } from './pty-session.ts'
import { PtySessions } from './pty-sessions.ts'
import { UnreadOutput } from './unread-output.ts'
import { yieldTime } from './yield-time.ts'

const defaultTokens = 10_000
const screen = { cols: 80, rows: 24 }

/** The parts of a sandbox that the tool needs. */
export interface PtyHost {
  readonly journal: Pick<Journal, 'operate'>
  /** Like a sandbox's `spawn`. The listener gets all output, from the first byte on, before `exit` settles. */
  spawn(command: Command, options: SpawnOptions, onOutput: OutputListener): Promise<PtyProcess>
}

/** The terminal tool for models: every update is short and says how to continue. */
export function createPtyTool(host: PtyHost, sessions = new PtySessions()): PtyTool {
  const start = async (session: PtyStart): Promise<PtySession> => {
    const { cmd, workdir, tty = false, shell, env, secrets, user, timeoutMs } = session
    const unread = new UnreadOutput()
    const options = {
      ...(shell !== undefined && { shell }),
      ...(workdir !== undefined && { cwd: workdir }),
      ...(env !== undefined && { env }),
      ...(secrets !== undefined && { secrets }),
      ...(user !== undefined && { user }),
      ...(timeoutMs !== undefined && { timeoutMs }),
      ...(tty && { tty: screen }),
    }
    const process = await host.spawn(cmd, options, (stream, chunk) => unread.push(stream, chunk))
    const started = new PtySession(sessions.newId(), process, { tty, unread })
    await sessions.add(started)?.process.kill()
    // Without a terminal there is no input: close stdin, so that a program that reads it gets end of file.
    if (!tty) await process.end()
    return started
  }

  const awaitUpdate = async (session: PtySession, waitMs: number, tokens: number): Promise<ToolUpdate> => {
    await session.wait(waitMs)
    if (session.exited) sessions.forget(session.id)
    return { process: session.process.id, ...session.update(tokens) }
  }

  return {
    async ptyExecStart(request) {
      const {
        cmd,
        shell,
        workdir,
        tty = false,
        yieldTimeMs = 10_000,
        maxOutputTokens = defaultTokens,
      } = request
      const began = performance.now()
      const waitMs = yieldTime(yieldTimeMs, 'command')
      const tokens = requireWholeNumber('maxOutputTokens', maxOutputTokens, 1)
      const facts = {
        ...(typeof cmd === 'string' && { command: cmd }),
        argv: argvOf(cmd, shell),
        tty,
        ...(workdir !== undefined && { cwd: workdir }),
      }
      const run = async () => awaitUpdate(await start(request), waitMs, tokens)
      return updateOf(await host.journal.operate('pty_exec_start', facts, run, { finish }), began)
    },

    async ptyWriteStdin({ sessionId, chars = '', yieldTimeMs = 250, maxOutputTokens = defaultTokens }) {
      const began = performance.now()
      const waitMs = yieldTime(yieldTimeMs, chars === '' ? 'poll' : 'command')
      const tokens = requireWholeNumber('maxOutputTokens', maxOutputTokens, 1)
      if (typeof chars !== 'string')
        throw new VitrineError('argument_invalid', `chars: expected a string, got ${typeof chars}.`)
      const facts = { sessionId, bytes: Buffer.byteLength(chars) }
      const run = async () => {
        const session = sessions.use(sessionId)
        if (chars !== '') await session.type(chars)
        return awaitUpdate(session, waitMs, tokens)
      }
      return updateOf(await host.journal.operate('pty_write_stdin', facts, run, { finish }), began)
    },

    async ptyTerminateAll() {
      const run = async () => {
        const all = sessions.forgetAll()
        await Promise.all(all.map(({ process }) => process.kill()))
        return all.length
      }
      await host.journal.operate('pty_terminate_all', {}, run, { finish: (count) => ({ count }) })
    },
  }
}

type ToolUpdate = SessionUpdate & { readonly process: string }

function updateOf({ process: _process, outcome: _outcome, ...update }: ToolUpdate, began: number): PtyUpdate {
  return { ...update, wallTimeMs: performance.now() - began }
}

/** The facts for the operation's end. The output is left out: the journal has it as `process.output`. */
function finish({ output, ...facts }: ToolUpdate) {
  return { ...facts, bytes: Buffer.byteLength(output) }
}
