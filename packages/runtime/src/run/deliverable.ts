import { setTimeout as sleep } from 'node:timers/promises'
import { isVitrineError, type SandboxCore, VitrineError } from '@vitrine/protocol'
import type { SandboxEvent } from '../events/sandbox-event.ts'
import type { ObservedTurn } from './observed-turn.ts'

/** The result of a turn: computed from its events, or from a file that the agent leaves behind. */
export type Deliverable<Out> =
  | { readonly kind: 'events'; fromEvents(events: readonly SandboxEvent[]): Out }
  | {
      readonly kind: 'artifact'
      /** A path in the workspace. */
      readonly path: string
      fromArtifact(text: string, events: readonly SandboxEvent[]): Out
    }

interface ArtifactLimits {
  /** Default 16 MiB. */
  readonly maxArtifactBytes?: number
  /** The pause after the nth read that failed is n times as long; default 1 s. */
  readonly readRetryDelayMs?: number
}

const attempts = 4
const defaultBytes = 16 * 1024 * 1024
const defaultDelayMs = 1_000

/** Computes the result of a turn. The record keeps the last error of reading the artifact. */
export async function deliver<Out>(
  deliverable: Deliverable<Out>,
  { files }: Pick<SandboxCore, 'files'>,
  record: ObservedTurn,
  { maxArtifactBytes = defaultBytes, readRetryDelayMs = defaultDelayMs }: ArtifactLimits,
  signal: AbortSignal,
): Promise<Out> {
  if (deliverable.kind === 'events') return deliverable.fromEvents(record.events)
  const limits = { maxArtifactBytes, readRetryDelayMs }
  return deliverable.fromArtifact(
    await readArtifact(files, deliverable.path, record, limits, signal),
    record.events,
  )
}

async function readArtifact(
  files: SandboxCore['files'],
  path: string,
  record: ObservedTurn,
  { maxArtifactBytes, readRetryDelayMs }: Required<ArtifactLimits>,
  signal: AbortSignal,
): Promise<string> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      const text = await readText(files, path, maxArtifactBytes, signal)
      record.readError = undefined
      return text
    } catch (error) {
      signal.throwIfAborted()
      record.readError = error
      if (attempt >= attempts || isFinal(error)) throw error
      await sleep(readRetryDelayMs * attempt, undefined, { signal })
    }
  }
}

async function readText(
  files: SandboxCore['files'],
  path: string,
  maxBytes: number,
  signal: AbortSignal,
): Promise<string> {
  const { kind, size } = await files.stat(path, { signal })
  if (kind === 'directory') throw new VitrineError('file_is_directory', `${path} is a directory.`)
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

const finalCodes: ReadonlySet<string> = new Set([
  'artifact_too_large',
  'file_is_directory',
  'file_not_regular',
  'path_outside',
  'sandbox_destroyed',
  'unsupported',
])

/** Whether another read would give the same error. A missing file may appear: some agents write late. */
function isFinal(error: unknown): boolean {
  return isVitrineError(error) && finalCodes.has(error.code)
}
