import { setTimeout as sleep } from 'node:timers/promises'
import { isVitrineError, type SandboxCore, VitrineError } from '@vitrine/protocol'
import type { SandboxEvent } from './sandbox-event.ts'

/** The result of a turn: computed from its events, or from a file that the agent leaves behind. */
export type Deliverable<Out> =
  | { readonly kind: 'events'; fromEvents(events: readonly SandboxEvent[]): Out }
  | {
      readonly kind: 'artifact'
      /** A path in the workspace. */
      readonly path: string
      fromArtifact(text: string, events: readonly SandboxEvent[]): Out
    }

export interface ArtifactLimits {
  readonly maxBytes: number
  /** How often a read is tried; the pause before the nth one is `retryMs` times n − 1. */
  readonly attempts: number
  readonly retryMs: number
}

/** Reads an artifact. A read that may succeed later is repeated; the signal ends the pauses. */
export async function readArtifact(
  { files }: Pick<SandboxCore, 'files'>,
  path: string,
  { maxBytes, attempts, retryMs }: ArtifactLimits,
  { signal, onFailure }: { readonly signal: AbortSignal; onFailure(error: unknown): void },
): Promise<string> {
  for (let attempt = 1; ; attempt += 1) {
    signal.throwIfAborted()
    try {
      return await readText(files, path, maxBytes, signal)
    } catch (error) {
      signal.throwIfAborted()
      onFailure(error)
      if (attempt >= attempts || isFinal(error)) throw error
      await sleep(retryMs * attempt, undefined, { signal })
    }
  }
}

async function readText(
  files: SandboxCore['files'],
  path: string,
  maxBytes: number,
  signal: AbortSignal,
): Promise<string> {
  const { size } = await files.stat(path)
  if (size > maxBytes) throw tooLarge(path, maxBytes, `${size}`)
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of await files.read(path, { signal })) {
    bytes += chunk.byteLength
    if (bytes > maxBytes) throw tooLarge(path, maxBytes, 'more')
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}

function tooLarge(path: string, maxBytes: number, got: string): VitrineError {
  return new VitrineError(
    'artifact_too_large',
    `${path}: expected an artifact of at most ${maxBytes} bytes, got ${got}.`,
    { details: { path, maxBytes } },
  )
}

const finalCodes: ReadonlySet<string> = new Set(['artifact_too_large', 'file_is_directory', 'unsupported'])

/** Whether another read would give the same error. A missing file may appear: some agents write late. */
function isFinal(error: unknown): boolean {
  return isVitrineError(error) && finalCodes.has(error.code)
}
