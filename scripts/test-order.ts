import { readFileSync } from 'node:fs'
import { relative } from 'node:path'
import { BaseSequencer, type TestSpecification } from 'vitest/node'
import { root } from './tools.ts'

/** Seconds of the longest test files, by path. `npm run test:durations` writes it from the last whole runs. */
export const durationsFile = new URL('test-durations.json', import.meta.url)

/** Starts the longest test files first: a long file that starts last would run alone at the end. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const seconds: Record<string, number> = JSON.parse(readFileSync(durationsFile, 'utf8'))
    const of = ({ moduleId }: TestSpecification) => seconds[relative(root, moduleId)] ?? 0
    return files.toSorted((one, other) => of(other) - of(one))
  }
}
