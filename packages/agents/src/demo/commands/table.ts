import { pause } from '../pause.ts'
import { readNumbers } from '../prompt.ts'
import type { Turn } from '../turn.ts'
import { reportUsage } from '../usage.ts'
import { askPermission, modeChange, permissionFirst, question, subagent } from './ask.ts'
import { badUtf8, banner, crash, crashSignal, half, stall, stallHard, stderrLines } from './failures.ts'
import { echo, env, envValue, mcp, mcpCall } from './inspect.ts'
import { big, error, flood, modelError, plan, stream, title } from './messages.ts'
import {
  dup,
  toolFirst,
  toolOpen,
  unknownNotification,
  unknownRequest,
  unknownResponse,
} from './protocol-violations.ts'
import { leaveProcess, read, run, write } from './workspace.ts'

/** A row of the command table. */
interface DemoCommand {
  readonly name: string
  /** The arguments. */
  readonly takes: string
  /** Description for `/help`. */
  readonly what: string
  readonly run: (turn: Turn, argument: string) => Promise<void>
}

/** All commands of the demo agent; `/help` shows this table. */
export const commands: readonly DemoCommand[] = [
  { name: 'help', takes: '', what: 'this table', run: help },

  { name: 'say', takes: 'TEXT', what: 'sends it as a message', run: (turn, text) => turn.say(text) },
  { name: 'think', takes: 'TEXT', what: 'sends it as a thought', run: (turn, text) => turn.think(text) },
  { name: 'plan', takes: '', what: 'a plan of three steps, done one by one', run: plan },
  { name: 'usage', takes: '', what: 'reports simulated tokens and cost', run: reportUsage },
  { name: 'title', takes: 'TEXT', what: "sets the session's title", run: title },
  { name: 'stream', takes: '[N] [BYTES]', what: 'N numbered chunks of one message, paced', run: stream },
  {
    name: 'flood',
    takes: '[N] [BYTES]',
    what: 'N numbered updates as fast as the pipe accepts them',
    run: flood,
  },
  { name: 'big', takes: '[BYTES]', what: 'one message of that size', run: big },
  { name: 'silence', takes: '', what: 'sends nothing', run: async () => {} },
  {
    name: 'wait',
    takes: '[MS]',
    what: 'waits, independent of VITRINE_DEMO_PACE; a cancel ends it',
    run: wait,
  },

  { name: 'write', takes: 'PATH TEXT', what: 'writes a file; asks first in mode ask', run: write },
  { name: 'read', takes: 'PATH', what: 'reads a file and sends its content', run: read },
  { name: 'run', takes: 'COMMAND', what: 'runs a shell command; asks first in mode ask', run },
  {
    name: 'leave',
    takes: 'COMMAND',
    what: 'starts a detached process that outlives the turn',
    run: leaveProcess,
  },

  { name: 'ask', takes: '[KIND]', what: 'asks permission for a tool call of that kind', run: askPermission },
  { name: 'question', takes: '', what: 'asks with a form: text, select, boolean', run: question },
  {
    name: 'permission-first',
    takes: '',
    what: 'asks permission for an unannounced tool call',
    run: permissionFirst,
  },
  { name: 'subagent', takes: '', what: 'asks permission under a child session id', run: subagent },
  {
    name: 'mode-change',
    takes: '[MODE]',
    what: 'changes its own mode, to the next one by default',
    run: modeChange,
  },

  { name: 'echo', takes: '', what: 'the types and sizes of the content blocks it got', run: echo },
  { name: 'env', takes: 'NAME', what: 'whether a variable is set, and how long it is', run: env },
  { name: 'env-value', takes: 'NAME', what: "a variable's value, for tests", run: envValue },
  {
    name: 'mcp',
    takes: '',
    what: 'the MCP servers it was given, with the tools of those over HTTP',
    run: mcp,
  },
  { name: 'mcp-call', takes: 'TOOL [JSON]', what: 'calls a tool of an MCP server over HTTP', run: mcpCall },

  { name: 'refuse', takes: '', what: 'ends with stop reason refusal', run: stopWith('refusal') },
  { name: 'max-tokens', takes: '', what: 'ends with stop reason max_tokens', run: stopWith('max_tokens') },
  {
    name: 'error',
    takes: '[CODE] MESSAGE',
    what: 'responds with a JSON-RPC error, -32603 by default',
    run: error,
  },
  {
    name: 'model-error',
    takes: '',
    what: 'an HTTP 400 of a model as a message, then end_turn',
    run: modelError,
  },

  { name: 'stall', takes: '', what: 'sends nothing until it is cancelled', run: stall },
  { name: 'stall-hard', takes: '', what: 'sends nothing and ignores the cancel', run: stallHard },
  { name: 'crash', takes: '[CODE]', what: 'exits, with 1 by default', run: crash },
  {
    name: 'crash-signal',
    takes: '[SIGNAL]',
    what: 'sends itself a signal, SIGKILL by default',
    run: crashSignal,
  },
  { name: 'half', takes: '', what: 'half a JSON line, then exits with 1', run: half },
  { name: 'stderr', takes: '[N]', what: 'N lines to stderr', run: stderrLines },
  { name: 'banner', takes: '[TEXT]', what: 'a line on stdout that is not JSON', run: banner },
  {
    name: 'badutf8',
    takes: '',
    what: 'bytes on stdout that are not UTF-8, alone and in a message',
    run: badUtf8,
  },

  { name: 'dup', takes: '', what: 'responds to the prompt twice', run: dup },
  {
    name: 'unknown-response',
    takes: '',
    what: 'a response with an unknown request id',
    run: unknownResponse,
  },
  {
    name: 'unknown-request',
    takes: '[METHOD]',
    what: 'a request with an unknown method; shows the response',
    run: unknownRequest,
  },
  {
    name: 'unknown-notification',
    takes: '[METHOD]',
    what: 'a notification with an unknown method',
    run: unknownNotification,
  },
  { name: 'tool-open', takes: '', what: 'leaves a tool call in_progress', run: toolOpen },
  { name: 'tool-first', takes: '', what: 'a tool_call_update before its tool_call', run: toolFirst },
]

export function findCommand(name: string): DemoCommand | undefined {
  return commands.find((command) => command.name === name)
}

async function help(turn: Turn): Promise<void> {
  const rows = commands.map(({ name, takes, what }) => `| \`/${name}${takes && ` ${takes}`}\` | ${what} |`)
  await turn.say(
    [
      'One command per line, run in order; any other prompt runs a story.',
      '',
      '| command | what it does |',
      '|---|---|',
    ]
      .concat(rows)
      .join('\n'),
  )
}

async function wait(turn: Turn, argument: string): Promise<void> {
  const [ms = 0] = readNumbers(argument, [1000])
  await pause(ms, turn.signal)
}

function stopWith(reason: 'refusal' | 'max_tokens'): DemoCommand['run'] {
  return async (turn) => {
    turn.stopReason = reason
  }
}
