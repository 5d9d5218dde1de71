import {
  type Command,
  type ExecOptions,
  type LogChunk,
  type ProcessInfo,
  type SpawnOptions,
  VitrineError,
} from '@vitrine/protocol'
import { execRequest, type processRoutes } from '@vitrine/protocol/http'
import { parseAs } from '@vitrine/protocol/options'
import { settledWithin } from '@vitrine/protocol/primitives'
import type { Daemon } from '../daemon/daemon.ts'
import { jsonResponse } from '../responses/json.ts'
import { slicedJsonResponse } from '../responses/sliced-json.ts'
import type { CallOf, HandlersOf, JsonOf } from '../routing/call.ts'
import { omitUndefined } from '../routing/omit-undefined.ts'
import { parseJson } from '../routing/parse-json.ts'
import { serveTerminal } from '../sockets/terminal.ts'
import { framesOf } from '../streams/sources.ts'
import { eventStream } from '../streams/stream.ts'

const maxWaitMs = 60_000

export function processHandlers({ streams, closing, longReads }: Daemon): HandlersOf<typeof processRoutes> {
  return {
    async exec({ body, signal, ...call }) {
      const { command, options } = execOf(body)
      return (await call.sandbox()).exec(command, { ...options, signal: signal() })
    },
    async execWithInput({ query, body, signal, ...call }) {
      const { command, options } = execOf(withoutSecrets(parseOptions(query.options)))
      const stdin = body ?? new Uint8Array()
      return (await call.sandbox()).exec(command, { ...options, stdin, signal: signal() })
    },
    async spawn({ body, ...call }) {
      const sandbox = await call.sandbox()
      const { id } = await sandbox.spawn(commandOf(body), spawnOptions(body))
      return processJson(await sandbox.processes.get(id))
    },
    async listProcesses({ query, signal, caller, ...call }) {
      const { owner, live } = query
      const isWanted = (one: ProcessInfo) => owner === undefined || one.owner === owner
      if (live) {
        const all = await (await call.sandbox()).processes.list()
        return { processes: all.filter(isWanted).map(processJson) }
      }
      const { processes } = await call.look()
      return longReads.run(caller.name, signal(), async () => {
        const all = await processes.list({ signal: signal() })
        return slicedJsonResponse(200, { processes: all.filter(isWanted).map(processJson) })
      })
    },
    async getProcess({ params, query, signal, caller, ...call }) {
      const { process } = params
      if (!query.live) {
        const { processes } = await call.look()
        const exit = query.wait === undefined ? undefined : processes.exitOf(process)
        const waitMs = Math.min(query.wait ?? 0, maxWaitMs)
        if (exit !== undefined) await settledWithin(exit, waitMs, { signal: signal(), ref: true })
        return longReads.run(caller.name, signal(), async () =>
          jsonResponse(200, processJson(await processes.get(process, { signal: signal() }))),
        )
      }
      const { processes } = await call.sandbox()
      const info = await processes.get(process)
      if (query.wait === undefined || info.state === 'exited') return processJson(info)
      const { exit } = await processes.attach(process)
      const waitMs = Math.min(query.wait, maxWaitMs)
      if (await settledWithin(exit, waitMs, { signal: signal(), ref: true })) await exit
      return processJson(await processes.get(process))
    },
    async removeProcess({ params, ...call }) {
      await (await call.sandbox()).processes.remove(params.process)
    },
    async readLogs({ params, query, signal, wantsStream, ...call }) {
      const { processes } = (await call.runningSandbox()) ?? (await call.look())
      const { process } = params
      const { stream = 'combined', tail, since, follow } = query
      const options = { ...(tail !== undefined && { tail }), ...(since !== undefined && { since }) }
      const isWanted = (chunk: LogChunk) => stream === 'combined' || wireName(chunk.stream) === stream
      let sequence = 0
      const entry = (chunk: LogChunk) => logEntry(chunk, ++sequence)
      if (follow || wantsStream) {
        const closed = new AbortController()
        const chunks = processes.follow(process, {
          ...options,
          signal: AbortSignal.any([signal(), closed.signal]),
        })
        return eventStream(
          framesOf(matching(chunks, isWanted), entry, {
            close: () => closed.abort(),
            closing,
          }),
          streams,
        )
      }
      const chunks = await processes.logs(process, { ...options, signal: signal() })
      return { processId: process, stream, entries: chunks.filter(isWanted).map(entry) }
    },
    async viewProcess({ params, signal, ...call }) {
      const process = await (await call.sandbox()).processes.attach(params.process)
      const closed = new AbortController()
      const chunks = process.view({ signal: AbortSignal.any([signal(), closed.signal]) })
      return eventStream(
        framesOf(chunks, ({ stream, data }) => ({ stream, data: Buffer.from(data).toString('base64') }), {
          close: () => closed.abort(),
          closing,
        }),
        streams,
      )
    },
    async writeInput({ params, body, ...call }) {
      const process = await (await call.sandbox()).processes.attach(params.process)
      const bytes = Buffer.from(body.data, body.encoding === 'base64' ? 'base64' : 'utf8')
      if (bytes.length > 0) await process.input(bytes)
      if (body.end) await process.end()
      return { bytesWritten: bytes.length }
    },
    async resizeTerminal({ params, body, ...call }) {
      await (await call.sandbox()).processes.resize(params.process, body.cols, body.rows)
      return body
    },
    async signalProcess({ params, body, ...call }) {
      await (await call.sandbox()).processes.signal(params.process, body.signal)
    },
    async stopProcess({ params, query, ...call }) {
      const { processes } = await call.sandbox()
      const { process } = params
      await processes.stop(process, query.waitMs === undefined ? {} : { graceMs: query.waitMs })
      return processJson(await processes.get(process))
    },
    async killProcess({ params, ...call }) {
      const { processes } = await call.sandbox()
      const { process } = params
      await processes.kill(process)
      return processJson(await processes.get(process))
    },
    async startPty({ body, ...call }) {
      return (await call.sandbox()).ptyExecStart(omitUndefined(body))
    },
    async writePty({ body, ...call }) {
      return (await call.sandbox()).ptyWriteStdin(omitUndefined(body))
    },
    async terminatePtys(call) {
      await (await call.sandbox()).ptyTerminateAll()
    },
    async openTerminal({ params, socket, ...call }) {
      await serveTerminal(socket, await call.sandbox(), params.process)
    },
  }
}

type ExecRequest = CallOf<(typeof processRoutes)['exec']>['body']

function parseOptions(text: string): ExecRequest {
  return parseAs('query.options', execRequest(), parseJson('query.options', text))
}

/** The address of a request may be logged on its way. */
function withoutSecrets(request: ExecRequest): ExecRequest {
  if (request.secrets === undefined) return request
  throw new VitrineError(
    'argument_invalid',
    'query.options.secrets: expected no secrets in the address; send them with `stdin` in the body of `POST …/exec`.',
  )
}

function execOf({ command, stdin, stdinEncoding, ...rest }: ExecRequest): {
  command: Command
  options: ExecOptions
} {
  const input = stdin === undefined ? undefined : Buffer.from(stdin, stdinEncoding ?? 'utf8')
  return { command, options: { ...omitUndefined(rest), ...(input && { stdin: input }) } }
}

type SpawnRequest = CallOf<(typeof processRoutes)['spawn']>['body']

function spawnOptions(body: SpawnRequest): SpawnOptions {
  const { command: _command, args: _args, interactive: _interactive, shell, tty, ...rest } = body
  const size = tty === true ? { cols: 80, rows: 24 } : tty
  return {
    ...omitUndefined(rest),
    ...(typeof shell !== 'boolean' && shell !== undefined && { shell }),
    ...(typeof size === 'object' && { tty: size }),
  }
}

/** A string is a program's name unless `shell` is set, as in sandbox-agent's API. */
function commandOf({ command, args = [], shell }: SpawnRequest): Command {
  if (typeof command !== 'string') return [...command, ...args]
  return shell === undefined || shell === false ? [command, ...args] : command
}

function processJson(info: ProcessInfo): JsonOf<(typeof processRoutes)['getProcess']> {
  const [command = '', ...args] = info.argv
  return {
    ...info,
    command,
    args,
    interactive: info.tty,
    status: info.state === 'exited' ? 'exited' : 'running',
    exitCode: info.exit?.exitCode ?? null,
    createdAtMs: Date.parse(info.startedAt),
  }
}

type LogEntry = JsonOf<(typeof processRoutes)['readLogs']>['entries'][number]

function wireName(stream: LogChunk['stream']): LogEntry['stream'] {
  return stream === 'terminal' ? 'pty' : stream
}

function logEntry({ time, stream, offset, data, skipped }: LogChunk, sequence: number): LogEntry {
  return {
    sequence,
    stream: wireName(stream),
    timestampMs: Date.parse(time),
    data: Buffer.from(data).toString('base64'),
    encoding: 'base64',
    offset,
    ...(skipped !== undefined && { skipped }),
  }
}

async function* matching<T>(items: AsyncIterable<T>, matches: (item: T) => boolean): AsyncGenerator<T> {
  for await (const item of items) if (matches(item)) yield item
}
