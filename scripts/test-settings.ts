import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { ViteUserConfig } from 'vitest/config'
import { LongestFirst } from './test-order.ts'
import { root } from './tools.ts'

type TestSettings = NonNullable<ViteUserConfig['test']>

/** What the tests of this repository have in common, whichever of them a configuration runs. */
export function testConfig({ env, ...test }: TestSettings): ViteUserConfig {
  return {
    resolve: { conditions: ['source'] },
    ssr: { resolve: { conditions: ['source'], externalConditions: ['source'] } },
    test: {
      environment: 'node',
      // Test files share the workers: one that starts anew for each of 400 files imports the packages 400 times.
      isolate: false,
      testTimeout: 60_000,
      hookTimeout: 60_000,
      // A condition that holds soon on an idle machine can take many seconds on a busy one.
      expect: { poll: { timeout: 30_000, interval: 20 } },
      // Tests that run at once each start a Node of their own.
      maxConcurrency: 2,
      sequence: { sequencer: LongestFirst },
      env: {
        // Node starts a program of several hundred TypeScript files in less than half the time once they are compiled.
        NODE_COMPILE_CACHE: join(root, '.tmp', 'compile-cache'),
        ...env,
      },
      ...test,
    },
  }
}

/** The test files that take their size from `conformance/src/scale.ts`. */
export function scaledTests(): string[] {
  const files = globSync('{packages/*,conformance}/test/**/*.test.ts', { cwd: root }).filter((file) =>
    /^import .* from '.*\/src\/scale\.ts'$/m.test(readFileSync(join(root, file), 'utf8')),
  )
  if (files.length === 0) throw new Error('No test imports conformance/src/scale.ts.')
  return files.toSorted()
}
