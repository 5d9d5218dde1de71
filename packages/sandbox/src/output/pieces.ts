import { isUtf8 } from 'node:buffer'
import { completeCharacters } from './head-and-tail.ts'

/** The most bytes of text in one `process.output` event: a longer text would become a blob. */
const maxText = 64 * 1024
/** The most bytes in one event as base64, which is a third longer. */
const maxBinary = 48 * 1024

export interface OutputPiece {
  readonly bytes: number
  readonly data: string
  readonly encoding: 'utf8' | 'base64'
}

/**
 * Cuts bytes into pieces that fit into events. An incomplete character at the end is returned in `rest`, unless these are
 * the `last` bytes.
 */
export function cutPieces(
  bytes: Buffer,
  { last }: { last: boolean },
): { pieces: OutputPiece[]; rest: Buffer } {
  const pieces: OutputPiece[] = []
  let at = 0
  while (at < bytes.length) {
    const window = bytes.subarray(at, at + maxText)
    const complete = window.subarray(0, completeCharacters(window))
    if (complete.length === 0 && !last && window.length < 4) break
    const piece = complete.length > 0 && isUtf8(complete) ? textPiece(complete) : binaryPiece(window)
    pieces.push(piece)
    at += piece.bytes
  }
  return { pieces, rest: bytes.subarray(at) }
}

function textPiece(bytes: Buffer): OutputPiece {
  return { bytes: bytes.length, data: bytes.toString('utf8'), encoding: 'utf8' }
}

function binaryPiece(window: Buffer): OutputPiece {
  const bytes = window.subarray(0, maxBinary)
  return { bytes: bytes.length, data: bytes.toString('base64'), encoding: 'base64' }
}
