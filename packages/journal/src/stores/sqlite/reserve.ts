import { closeSync, openSync, rmSync, statSync, writeSync } from 'node:fs'
import { systemErrorCode } from '@vitrine/protocol/primitives'

const reserveBytes = 1024 * 1024

/** Reserves disk space in a file beside the store, so that end events can still be written when the disk is full. */
export function takeReserve(storePath: string): { readonly noRoom: boolean } {
  const path = reservePath(storePath)
  let file: number | undefined
  try {
    if (statSync(path, { throwIfNoEntry: false })?.size === reserveBytes) return { noRoom: false }
    file = openSync(path, 'w', 0o600)
    const zeros = Buffer.alloc(reserveBytes)
    for (let written = 0; written < reserveBytes; ) written += writeSync(file, zeros, written)
    return { noRoom: false }
  } catch (error) {
    // Leave the remaining space to the journal.
    freeReserve(storePath)
    const code = systemErrorCode(error)
    return { noRoom: code === 'ENOSPC' || code === 'EDQUOT' }
  } finally {
    if (file !== undefined) closeSync(file)
  }
}

export function freeReserve(storePath: string): void {
  try {
    rmSync(reservePath(storePath), { force: true })
  } catch {
    // The disk is read-only: commits report that the store fails.
  }
}

function reservePath(storePath: string): string {
  return `${storePath}.reserve`
}
