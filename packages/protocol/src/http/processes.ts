import * as z from 'zod/mini'
import { component } from '../component.ts'
import { lazily } from '../lazy.ts'
import { execFields, ptyStartFields, ptyWriteFields, spawnFields, terminalSize } from '../options/process.ts'
import { strict } from '../options/strict.ts'
import {
  execResult,
  logEntry,
  logPage,
  newTerminalSize,
  outputChunk,
  processInfo,
  ptyUpdate,
  terminalMessage,
} from './responses/process.ts'
import { frames } from './responses/stream.ts'
import { table } from './route.ts'
import { command, count, flag, input, live, shell } from './values.ts'

const requests = lazily({
  exec: () =>
    strict({
      /** A string runs in a shell, an array without one. */
      command: command(),
      ...execFields(),
      stdin: z.optional(z.string()),
      stdinEncoding: z.optional(z.enum(['utf8', 'base64'])),
    }),
  spawn: () =>
    strict({
      /** A program, with `args`; an array is a program with its arguments; with `shell`, a string for that shell. */
      command: command(),
      args: z.optional(z.array(z.string())),
      ...spawnFields(),
      shell: z.optional(shell()),
      tty: z.optional(z.union([z.boolean(), terminalSize()])),
      interactive: z.optional(z.boolean()),
    }),
})

export const execRequest = () => requests.exec

/** A text message to the daemon on a terminal's WebSocket; a binary message is input. */
const terminalClientMessage = component('TerminalClientMessage', () =>
  z.discriminatedUnion('type', [
    strict({ type: z.literal('input'), data: z.string(), encoding: z.optional(z.enum(['utf8', 'base64'])) }),
    strict({ type: z.literal('resize'), ...terminalSize().shape }),
    strict({ type: z.literal('close') }),
  ]),
)

const pty = <const Rest extends string>(rest: Rest, summary: string) =>
  ({ method: 'POST', path: `/pty/${rest}`, scope: 'sandbox', access: 'full', summary }) as const

const one = <const Rest extends string>(method: 'GET' | 'POST' | 'DELETE', rest: Rest, summary: string) =>
  ({ method, path: `/processes/{process}${rest}`, scope: 'sandbox', access: 'full', summary }) as const

export const processRoutes = table({
  exec: {
    method: 'POST',
    path: '/exec',
    scope: 'sandbox',
    access: 'full',
    summary: 'Runs a command and waits for its end.',
    body: execRequest,
    response: execResult,
  },
  execWithInput: {
    method: 'POST',
    path: '/exec/input',
    scope: 'sandbox',
    access: 'full',
    summary:
      'Runs a command with the streamed body as its stdin; `options` is the request of `exec` as JSON.',
    query: () => strict({ options: z.string() }),
    body: 'bytes',
    response: execResult,
  },
  spawn: {
    method: 'POST',
    path: '/processes',
    scope: 'sandbox',
    access: 'full',
    summary: 'Starts a process.',
    body: () => requests.spawn,
    response: processInfo,
  },
  listProcesses: {
    method: 'GET',
    path: '/processes',
    scope: 'sandbox',
    access: 'read',
    summary:
      'Lists the processes of a running sandbox that were not removed, or those in the journal of another one, without starting it.',
    query: () => strict({ owner: z.optional(z.string()), live: live() }),
    response: () => z.object({ processes: z.array(processInfo()) }),
  },
  getProcess: {
    ...one('GET', '', 'Returns one process, without starting the sandbox; with `wait`, once it has ended.'),
    access: 'read',
    query: () => strict({ wait: z.optional(count()), live: live() }),
    response: processInfo,
  },
  removeProcess: {
    ...one('DELETE', '', 'Removes a process that has exited from the list.'),
    status: 204,
    response: 'nothing',
  },
  readLogs: {
    ...one(
      'GET',
      '/logs',
      'Reads its output from the journal, without starting the sandbox; with `follow`, as a stream.',
    ),
    query: () =>
      strict({
        stream: z.optional(z.enum(['stdout', 'stderr', 'combined', 'pty'])),
        tail: z.optional(count()),
        since: z.optional(z.string()),
        follow: z.optional(flag()),
      }),
    response: logPage,
    streams: true,
    frames: () => frames({ message: logEntry() }),
  },
  viewProcess: {
    ...one('GET', '/view', 'Streams its most recent output, then new output, unredacted.'),
    response: 'event-stream',
    frames: () => frames({ message: outputChunk() }),
  },
  writeInput: {
    ...one('POST', '/input', 'Writes to its stdin.'),
    body: input,
    response: () => z.object({ bytesWritten: z.int() }),
  },
  resizeTerminal: {
    ...one('POST', '/terminal/resize', 'Resizes its terminal.'),
    body: terminalSize,
    response: newTerminalSize,
  },
  signalProcess: {
    ...one('POST', '/signal', 'Sends a signal.'),
    body: () => strict({ signal: z.string() }),
    status: 204,
    response: 'nothing',
  },
  stopProcess: {
    ...one('POST', '/stop', 'Sends SIGTERM, then SIGKILL if it does not end.'),
    query: () => strict({ waitMs: z.optional(count()) }),
    response: processInfo,
  },
  killProcess: {
    ...one('POST', '/kill', 'Kills it and every process it started.'),
    query: () => strict({ waitMs: z.optional(count()) }),
    response: processInfo,
  },
  startPty: {
    ...pty('start', 'Starts a command for a model, and responds when it ended or the yield time is over.'),
    body: () => strict(ptyStartFields()),
    response: ptyUpdate,
  },
  writePty: {
    ...pty('write', 'Types into a command that was started so, or polls its new output.'),
    body: () => strict(ptyWriteFields()),
    response: ptyUpdate,
  },
  terminatePtys: {
    ...pty('terminate', 'Kills all commands that were started so.'),
    status: 204,
    response: 'nothing',
  },
  openTerminal: {
    ...one('GET', '/terminal/ws', 'Opens its terminal over a WebSocket.'),
    query: () => strict({ access_token: z.optional(z.string()) }),
    response: 'socket',
    socketMessage: terminalMessage,
    clientMessage: terminalClientMessage,
  },
})
