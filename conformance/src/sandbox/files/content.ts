import type { ReadFileOptions } from '@vitrine/protocol'
import type { TestedSandbox } from '../kit.ts'

export async function readText(
  sandbox: TestedSandbox,
  path: string,
  options?: ReadFileOptions,
): Promise<string> {
  return (await readBytes(sandbox, path, options)).toString()
}

export async function readBytes(
  sandbox: TestedSandbox,
  path: string,
  options?: ReadFileOptions,
): Promise<Buffer> {
  return Buffer.from(await new Response(await sandbox.files.read(path, options)).arrayBuffer())
}

/** What a command says, without its last line break. */
export async function outputOf(sandbox: TestedSandbox, command: string): Promise<string> {
  return (await sandbox.exec(command)).stdout.trimEnd()
}

/** A stream of these parts; then it ends, or goes on as it is told. */
export function streamOf(
  parts: readonly (string | Uint8Array)[],
  then: (controller: ReadableStreamDefaultController<Uint8Array>) => void = (controller) =>
    controller.close(),
): ReadableStream<Uint8Array> {
  const left = [...parts]
  return new ReadableStream<Uint8Array>({
    pull(controller) {
      const part = left.shift()
      if (part === undefined) then(controller)
      else controller.enqueue(typeof part === 'string' ? Buffer.from(part) : part)
    },
  })
}

/** Bytes that are the same every time and nowhere repeat. */
export function someBytes(length: number): Buffer {
  const bytes = Buffer.allocUnsafe(length)
  for (let at = 0, value = 1; at < length; at += 1) {
    value = (value * 1_103_515_245 + 12_345) & 0x7fffffff
    bytes[at] = value >> 16
  }
  return bytes
}
