import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** Runs something in a folder of its own, which is gone afterwards. */
export async function inScratch<T>(run: (folder: string) => Promise<T>): Promise<T> {
  const folder = scratchFolder()
  try {
    return await run(folder)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** A new folder that its maker removes; what is left of a killed measurement goes with the folder of its run. */
export function scratchFolder(): string {
  return mkdtempSync(join(tmpdir(), 'bench-'))
}
