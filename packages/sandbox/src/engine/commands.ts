import { Readable, type Writable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { Journal } from '@vitrine/journal'
import {
  type Command,
  type ExecOptions,
  type ExecResult,
  newId,
  type ProcessExit,
  type SpawnOptions,
  toVitrineError,
  VitrineError,
} from '@vitrine/protocol'
import { toWebStream } from '@vitrine/protocol/primitives'
import { checkEnvironment, checkVariableCount } from '../machine/environment.ts'
import type { Launch } from '../machine/machine.ts'
import { cutMargin, HeadAndTail, type MaskExcerpt } from '../output/head-and-tail.ts'
import { argvOf, workingDirectory } from '../processes/command.ts'
import type { EntryOptions, ProcessEntry } from '../processes/entry.ts'
import type { EngineCore } from './core.ts'
import { policyCall } from './policy-call.ts'
import type { PolicyGate } from './policy-gate.ts'
import { registerSecrets } from './secrets.ts'

/** The data of a command's `operation.started` event. */
function startDataOf(command: Command, argv: readonly string[], options: SpawnOptions | ExecOptions) {
  const { cwd, env, secrets, user, timeoutMs } = options
  return {
    ...(typeof command === 'string' ? { command } : {}),
    argv,
    ...(cwd !== undefined && { cwd }),
    ...(env !== undefined && { env }),
    ...(secrets !== undefined && { secrets: Object.keys(secrets) }),
    ...(user !== undefined && { user }),
    ...(timeoutMs !== undefined && { timeoutMs }),
  }
}

export interface CommandCaller {
  readonly core: EngineCore
  readonly journal: Journal
  readonly gate: PolicyGate | undefined
  /** Whose the variables of a call are. Those of the host itself are not judged by the policy. */
  readonly variables?: 'of-the-caller' | 'of-the-host'
}

/** Runs a command to its end. Every exit is a result; only a command that could not be started throws. */
export async function execute(
  caller: CommandCaller,
  command: Command,
  options: ExecOptions,
): Promise<ExecResult> {
  const argv = argvOf(command, options.shell)
  const { signal } = options
  try {
    const { result } = await operateOn(
      ...([caller, 'exec', command, argv, options] as const),
      () => run(caller, argv, options),
      ({ result, recorded }) => finishOf({ ...result, ...recorded }),
    )
    return result
  } catch (error) {
    // Cancelled before it started: no process ran, and the journal has the cancelled operation.
    if (signal?.aborted && isRefusal(error, signal)) return cancelledBeforeStart
    throw error
  }
}

const cancelledBeforeStart: ExecResult = {
  outcome: 'cancelled',
  exitCode: null,
  signal: null,
  stdout: '',
  stderr: '',
  truncated: false,
  durationMs: 0,
}

function isRefusal(error: unknown, signal: AbortSignal): boolean {
  return error === signal.reason || (error instanceof VitrineError && error.code === 'cancelled')
}

function finishOf({ outcome, exitCode, signal, stdout, stderr, truncated, limit }: ExecResult) {
  return {
    ...{ outcome, exitCode, signal, stdout, stderr },
    ...(truncated && { truncated }),
    ...(limit && { limit: limit.limit, errorMessage: limit.message }),
  }
}

/** A result, and its output as it is recorded: a secret that was cut with the output is masked. */
interface RecordedResult {
  readonly result: ExecResult
  readonly recorded: Pick<ExecResult, 'stdout' | 'stderr'>
}

async function run(
  caller: CommandCaller,
  argv: readonly string[],
  options: ExecOptions,
): Promise<RecordedResult> {
  const began = performance.now()
  const input = toWebStream('stdin', options.stdin)
  const max = options.maxOutputBytes ?? caller.core.settings.processLimits.outputBytes
  const stdout = new HeadAndTail(max, 0.5, cutMargin)
  const stderr = new HeadAndTail(max, 0.5, cutMargin)
  const entry = await startProcess(caller, argv, options, {
    remember: false,
    input: input !== undefined,
    onOutput: (stream, chunk) => (stream === 'stdout' ? stdout : stderr).push(chunk),
  })
  let inputFailure: { readonly error: unknown } | undefined
  writeInput(entry.current.stdin, input, (error) => {
    inputFailure = { error }
    void entry.kill('cancelled').catch(() => undefined)
  })
  const release = killOnTimeoutOrAbort(entry, options, caller.journal)
  let exit: ProcessExit
  try {
    exit = await entry.current.observed
  } finally {
    release()
  }
  if (inputFailure !== undefined)
    throw new VitrineError('input_closed', 'The input stream of the command failed.', {
      cause: inputFailure.error,
    })
  const result: ExecResult = {
    ...exit,
    stdout: stdout.text(),
    stderr: stderr.text(),
    truncated: stdout.skipped + stderr.skipped > 0,
    durationMs: performance.now() - began,
  }
  if (!result.truncated) return { result, recorded: result }
  const mask: MaskExcerpt = (bytes, start, end) => caller.journal.redactExcerpt(bytes, start, end)
  return { result, recorded: { stdout: stdout.maskedText(mask), stderr: stderr.maskedText(mask) } }
}

/** Starts a command and resolves while it runs. */
export function start(
  caller: CommandCaller,
  command: Command,
  options: SpawnOptions,
  how: Pick<EntryOptions, 'onOutput' | 'rawStdout'> = {},
): Promise<ProcessEntry> {
  const argv = argvOf(command, options.shell)
  const run = async () => {
    const entry = await startProcess(caller, argv, options, {
      remember: true,
      input: true,
      ...how,
    })
    const release = killOnTimeoutOrAbort(entry, options, caller.journal)
    void entry.exit.then(release, release)
    return entry
  }
  return operateOn(caller, 'spawn', command, argv, options, run, ({ id }) => ({ process: id }))
}

function operateOn<T>(
  { core, journal, gate, variables }: CommandCaller,
  op: string,
  command: Command,
  argv: readonly string[],
  options: SpawnOptions | ExecOptions,
  run: () => Promise<T>,
  finish: (result: T) => Readonly<Record<string, unknown>>,
): Promise<T> {
  const { signal } = options
  if (options.env !== undefined) checkVariableCount(options.env)
  const operation = () =>
    journal.operate(op, startDataOf(command, argv, options), run, {
      finish,
      ...(signal && { signal }),
    })
  const { machine } = core.ready()
  // Before the first event: the command itself may contain a value.
  if (options.secrets !== undefined) registerSecrets(core, options.secrets, options.env)
  if (gate === undefined) return operation()
  const judged = variables === 'of-the-host' ? { ...options, env: {} } : options
  return gate.withJudgement(
    command,
    policyCall(machine, { ...core.settings.env, ...core.secrets }, judged),
    operation,
  )
}

type ProcessStartOptions = Pick<EntryOptions, 'remember' | 'onOutput' | 'rawStdout'> & Pick<Launch, 'input'>

function startProcess(
  { core, journal }: CommandCaller,
  argv: readonly string[],
  options: SpawnOptions & ExecOptions,
  { input, ...how }: ProcessStartOptions,
): Promise<ProcessEntry> {
  const { machine, gateway, watch } = core.ready()
  const { env, secrets, user, tty } = options
  if (env !== undefined) checkEnvironment(env)
  const launch: Launch = {
    argv,
    cwd: workingDirectory(machine.root, machine.cwdRoots, options.cwd),
    env: {
      ...machine.environment,
      ...core.secrets,
      ...gateway?.environment,
      ...(tty !== undefined && { TERM: 'xterm-256color' }),
      ...env,
      ...secrets,
    },
    user,
    tty,
    input,
    keepAfterExit: how.rawStdout === true,
  }
  const host = { machine, journal, watch, limits: core.settings.processLimits }
  const { owner, restart } = options
  return core.table.start(host, { id: newId('process'), launch, owner, ...(restart && { restart }), ...how })
}

/** Kills the whole tree on timeout or abort. Returns a function that releases the timer and the listener. */
function killOnTimeoutOrAbort(
  entry: ProcessEntry,
  { timeoutMs, signal }: SpawnOptions,
  journal: Journal,
): () => void {
  const end = (reason: 'timeout' | 'cancelled') =>
    void entry.kill(reason).catch((error: unknown) => recordFailedKill(journal, entry.id, reason, error))
  const timer = timeoutMs === undefined ? undefined : setTimeout(() => end('timeout'), timeoutMs)
  const cancel = () => end('cancelled')
  if (signal?.aborted) cancel()
  signal?.addEventListener('abort', cancel, { once: true })
  return () => {
    clearTimeout(timer)
    signal?.removeEventListener('abort', cancel)
  }
}

/** No caller awaits this kill, so its failure is written to the journal. */
async function recordFailedKill(
  journal: Journal,
  process: string,
  reason: string,
  error: unknown,
): Promise<void> {
  const message = `Process ${process} could not be killed (${reason}): ${toVitrineError(error).message}`
  await journal
    .append([{ type: 'log.message', data: { level: 'error', message, process } }])
    .catch(() => undefined)
}

function writeInput(
  stdin: Writable | undefined,
  input: string | Uint8Array | ReadableStream<Uint8Array> | undefined,
  onError: (error: unknown) => void,
): void {
  if (stdin === undefined) return
  if (input === undefined) stdin.end()
  else if (typeof input === 'string' || input instanceof Uint8Array) stdin.end(input)
  // A program that does not read all of its input is not a failure of the command.
  else {
    const source = Readable.fromWeb(input)
    source.once('error', (error) => {
      if (stdin.writable && !stdin.destroyed) onError(error)
    })
    void pipeline(source, stdin).catch(() => undefined)
  }
}
