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

const acceptedSchema = z.object({ id: z.literal(1), result: z.object({ protocolVersion: z.literal(1) }) })
const responseSchema = z.object({ id: z.literal(1) })

const maxOutputChars = 16 * 1024
const maxLineChars = 1024 * 1024

/** Starts a program and sends `initialize`; returns why it is not a working agent, or undefined when it is. */
export async function verifyAgent(
  sandbox: LocalSandbox,
  { argv, env }: AgentLaunch,
  options: { readonly cwd: string; readonly timeoutMs: number; readonly signal: AbortSignal },
): Promise<string | undefined> {
  const { cwd, timeoutMs, signal } = options
  const process = await sandbox.spawn(argv, { cwd, env, timeoutMs, signal })
  // The write fails if the program exits at once; its exit status says more than that error.
  await process.input(`${JSON.stringify(initialize)}\n`).catch(() => undefined)
  const { response, stdout, stderr } = await readResponse(process)
  if (response === 'accepted') {
    await process.kill().catch(() => undefined)
    return undefined
  }
  const { outcome, exitCode } = await process.exit
  const how =
    outcome === 'timeout'
      ? `did not respond to \`initialize\` in ${timeoutMs / 1_000} s`
      : response === 'refused'
        ? 'did not accept `initialize` with protocol version 1'
        : `exited (${exitCode === null ? outcome : `exit code ${exitCode}`}) before it responded to \`initialize\``
  const output = [
    ...(stderr === '' ? [] : [`Its stderr:\n${stderr}`]),
    ...(stdout === '' ? [] : [`Its stdout:\n${stdout}`]),
  ]
  return [`the program ${how}.`, ...output].join(' ')
}

interface ProgramOutput {
  readonly response: 'accepted' | 'refused' | 'none'
  readonly stdout: string
  readonly stderr: string
}

async function readResponse(process: Process): Promise<ProgramOutput> {
  const decoders = { stdout: new TextDecoder(), stderr: new TextDecoder() }
  const output = { stdout: '', stderr: '' }
  let line = ''
  const result = (response: ProgramOutput['response']): ProgramOutput => ({
    response,
    stdout: lastLines(output.stdout),
    stderr: lastLines(output.stderr),
  })
  for await (const { stream, data } of process.view()) {
    if (stream === 'terminal') continue
    const text = decoders[stream].decode(data, { stream: true })
    output[stream] = (output[stream] + text).slice(-maxOutputChars)
    if (stream === 'stderr') continue
    const lines = (line + text).split('\n')
    line = lines.pop()?.slice(-maxLineChars) ?? ''
    for (const one of lines) {
      const message = parse(one)
      if (acceptedSchema.safeParse(message).success) return result('accepted')
      if (responseSchema.safeParse(message).success) {
        await process.kill().catch(() => undefined)
        return result('refused')
      }
    }
  }
  return result('none')
}

function parse(line: string): unknown {
  try {
    return JSON.parse(line)
  } catch {
    return undefined
  }
}
