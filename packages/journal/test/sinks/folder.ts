import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'

/** An empty directory that is removed when the test ends. */
export async function folder(): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), 'vitrine-sinks-'))
  onTestFinished(() => rm(path, { recursive: true, force: true }))
  return path
}
