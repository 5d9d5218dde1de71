import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** Calls `run` with a new folder that is removed afterwards. */
export async function inScratch<T>(run: (folder: string) => Promise<T>): Promise<T> {
  const folder = scratchFolder()
  try {
    return await run(folder)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Creates a folder that the caller removes. It is below the folder of the run, which is removed after a kill. */
export function scratchFolder(): string {
  return mkdtempSync(join(tmpdir(), 'bench-'))
}
