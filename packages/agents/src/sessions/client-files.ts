import { type ReadTextFileRequest, RequestError, type WriteTextFileRequest } from '@agentclientprotocol/sdk'
import { isVitrineError, type SandboxCore, toVitrineError, VitrineError } from '@vitrine/protocol'

const maxReadBytes = 16 * 1024 * 1024

/** An agent's `fs/read_text_file`: a read of the sandbox, on record as every other. */
export async function readTextFile(
  sandbox: Pick<SandboxCore, 'files'>,
  { path, line, limit }: ReadTextFileRequest,
): Promise<{ content: string }> {
  return answering(async () => {
    const stream = await sandbox.files.read(path, { to: maxReadBytes + 1 })
    const bytes = await new Response(stream).arrayBuffer()
    if (bytes.byteLength > maxReadBytes)
      throw new VitrineError('input_too_large', `${path} is larger than ${maxReadBytes} bytes.`)
    const text = new TextDecoder().decode(bytes)
    return { content: linesOf(text, line ?? undefined, limit ?? undefined) }
  })
}

/** An agent's `fs/write_text_file`. */
export async function writeTextFile(
  sandbox: Pick<SandboxCore, 'files'>,
  { path, content }: WriteTextFileRequest,
): Promise<Record<string, never>> {
  return answering(async () => {
    await sandbox.files.write(path, content, { parents: true })
    return {}
  })
}

/** From a line (the first is 1), so many of them. */
export function linesOf(text: string, from = 1, limit?: number): string {
  if (from <= 1 && limit === undefined) return text
  const lines = text.split('\n')
  const start = Math.max(0, from - 1)
  return lines.slice(start, limit === undefined ? undefined : start + limit).join('\n')
}

const notFound = -32_002

/** Our errors in the words of the protocol. */
export async function answering<T>(work: () => Promise<T>): Promise<T> {
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
