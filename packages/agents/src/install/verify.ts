import type { Process } from '@vitrine/protocol'
import type { LocalSandbox } from '@vitrine/sandbox'
import * as z from 'zod/mini'
import { lastLines } from './explain-npm.ts'
import type { AgentLaunch } from './launch.ts'

const initialize = {
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: {
    protocolVersion: 1,
    clientCapabilities: { fs: { readTextFile: false, writeTextFile: false }, terminal: false },
    clientInfo: { name: 'vitrine', version: '1' },
  },
}

const answerSchema = z.object({ id: z.literal(1), result: z.object({ protocolVersion: z.literal(1) }) })
const refusalSchema = z.object({ id: z.literal(1) })

const keptChars = 16 * 1024
const longestLine = 1024 * 1024

/** Why a program is not an agent, or nothing when it answered `initialize` as one does. */
export async function verifyAgent(
  sandbox: LocalSandbox,
  { argv, env }: AgentLaunch,
  options: { readonly cwd: string; readonly timeoutMs: number; readonly signal: AbortSignal },
): Promise<string | undefined> {
  const { cwd, timeoutMs, signal } = options
  const process = await sandbox.spawn(argv, { cwd, env, timeoutMs, signal })
  // One that ends at once does not take it, and its end says more.
  await process.input(`${JSON.stringify(initialize)}\n`).catch(() => undefined)
  const heard = await listen(process)
  if (heard.answered) {
    await process.kill().catch(() => undefined)
    return undefined
  }
  const { outcome, exitCode } = await process.exit
  const how =
    outcome === 'timeout'
      ? `did not answer \`initialize\` in ${timeoutMs / 1_000} s`
      : heard.refused
        ? 'answered `initialize` with something else than protocol version 1'
        : `ended (${exitCode === null ? outcome : `exit code ${exitCode}`}) before it answered \`initialize\``
  const said = [
    ...(heard.stderr === '' ? [] : [`It said:\n${heard.stderr}`]),
    ...(heard.stdout === '' ? [] : [`Its output was:\n${heard.stdout}`]),
  ]
  return [`the program ${how}.`, ...said].join(' ')
}

interface Heard {
  readonly answered: boolean
  readonly refused: boolean
  readonly stdout: string
  readonly stderr: string
}

async function listen(process: Process): Promise<Heard> {
  const decoders = { stdout: new TextDecoder(), stderr: new TextDecoder() }
  const said = { stdout: '', stderr: '' }
  let line = ''
  const heard = (answered: boolean, refused: boolean): Heard => ({
    answered,
    refused,
    stdout: lastLines(said.stdout),
    stderr: lastLines(said.stderr),
  })
  for await (const { stream, data } of process.view()) {
    if (stream === 'terminal') continue
    const text = decoders[stream].decode(data, { stream: true })
    said[stream] = (said[stream] + text).slice(-keptChars)
    if (stream === 'stderr') continue
    const lines = (line + text).split('\n')
    line = lines.pop()?.slice(-longestLine) ?? ''
    for (const one of lines) {
      const message = parse(one)
      if (answerSchema.safeParse(message).success) return heard(true, false)
      if (refusalSchema.safeParse(message).success) {
        await process.kill().catch(() => undefined)
        return heard(false, true)
      }
    }
  }
  return heard(false, false)
}

function parse(line: string): unknown {
  try {
    return JSON.parse(line)
  } catch {
    return undefined
  }
}
