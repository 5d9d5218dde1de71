import { type ReadTextFileRequest, RequestError, type WriteTextFileRequest } from '@agentclientprotocol/sdk'
import { isVitrineError, type SandboxCore, toVitrineError, VitrineError } from '@vitrine/protocol'

const maxReadBytes = 16 * 1024 * 1024

/** Handles `fs/read_text_file` with a recorded read in the sandbox. */
export async function readTextFile(
  sandbox: Pick<SandboxCore, 'files'>,
  { path, line, limit }: ReadTextFileRequest,
): Promise<{ content: string }> {
  return withProtocolErrors(async () => {
    const stream = await sandbox.files.read(path, { to: maxReadBytes + 1 })
    const bytes = await new Response(stream).arrayBuffer()
    if (bytes.byteLength > maxReadBytes)
      throw new VitrineError('input_too_large', `${path} is larger than ${maxReadBytes} bytes.`)
    const text = new TextDecoder().decode(bytes)
    return { content: linesOf(text, line ?? undefined, limit ?? undefined) }
  })
}

/** Handles `fs/write_text_file` with a recorded write in the sandbox. */
export async function writeTextFile(
  sandbox: Pick<SandboxCore, 'files'>,
  { path, content }: WriteTextFileRequest,
): Promise<Record<string, never>> {
  return withProtocolErrors(async () => {
    await sandbox.files.write(path, content, { parents: true })
    return {}
  })
}

/** Returns `limit` lines of a text, beginning with line `from` (the first is 1). */
export function linesOf(text: string, from = 1, limit?: number): string {
  if (from <= 1 && limit === undefined) return text
  const lines = text.split('\n')
  const start = Math.max(0, from - 1)
  return lines.slice(start, limit === undefined ? undefined : start + limit).join('\n')
}

const notFound = -32_002

/** Converts errors to JSON-RPC errors of the protocol. */
export async function withProtocolErrors<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof RequestError) throw error
    const { code, message, hint } = toVitrineError(error)
    const data = { code, hint }
    if (isVitrineError(error) && (code === 'file_not_found' || code === 'not_found'))
      throw new RequestError(notFound, `Resource not found: ${message}`, data)
    throw new RequestError(-32_603, message, data)
  }
}
