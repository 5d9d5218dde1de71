import { closeSync, openSync, rmSync, statSync, writeSync } from 'node:fs'

const reserveBytes = 1024 * 1024

/** Space kept back beside the store, so that endings can still be written when the disk is full. */
export function takeReserve(storePath: string): void {
  const path = reservePath(storePath)
  if (statSync(path, { throwIfNoEntry: false })?.size === reserveBytes) return
  let file: number | undefined
  try {
    file = openSync(path, 'w', 0o600)
    const zeros = Buffer.alloc(reserveBytes)
    for (let written = 0; written < reserveBytes; ) written += writeSync(file, zeros, written)
  } catch {
    // No room for a reserve: better to leave what little there is to the journal itself.
    rmSync(path, { force: true })
  } finally {
    if (file !== undefined) closeSync(file)
  }
}

export function freeReserve(storePath: string): void {
  rmSync(reservePath(storePath), { force: true })
}

function reservePath(storePath: string): string {
  return `${storePath}.reserve`
}
