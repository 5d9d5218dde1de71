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

/** The standard output of a command without trailing white space. */
export async function outputOf(sandbox: TestedSandbox, command: string): Promise<string> {
  return (await sandbox.exec(command)).stdout.trimEnd()
}

/** A stream of the given parts. After the last one it closes, or calls `then`. */
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

/** Pseudo-random bytes that are the same on every call. */
export function someBytes(length: number): Buffer {
  const bytes = Buffer.allocUnsafe(length)
  for (let at = 0, value = 1; at < length; at += 1) {
    value = (value * 1_103_515_245 + 12_345) & 0x7fffffff
    bytes[at] = value >> 16
  }
  return bytes
}
