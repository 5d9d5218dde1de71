import type { LogChunk, OutputChunk } from '@vitrine/protocol'
import { fromBase64 } from '../http/base64.ts'

/** A chunk of output as the server sends it. */
export interface OutputEntry {
  readonly stream: 'stdout' | 'stderr' | 'terminal' | 'pty'
  /** Base64. */
  readonly data: string
}

export interface LogEntry extends OutputEntry {
  readonly timestampMs: number
  readonly offset: number
  readonly skipped?: number
}

export function outputChunk({ stream, data }: OutputEntry): OutputChunk {
  return { stream: stream === 'pty' ? 'terminal' : stream, data: fromBase64(data) }
}

export function logChunk(entry: LogEntry): LogChunk {
  const { timestampMs, offset, skipped } = entry
  const time = new Date(timestampMs).toISOString()
  return { time, ...outputChunk(entry), offset, ...(skipped !== undefined && { skipped }) }
}
