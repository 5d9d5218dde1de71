import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { ViteUserConfig } from 'vitest/config'
import { LongestFirst } from './test-order.ts'
import { root } from './tools.ts'

type TestSettings = NonNullable<ViteUserConfig['test']>

/** The settings that all test configurations of this repository share. */
export function testConfig({ env, ...test }: TestSettings): ViteUserConfig {
  return {
    resolve: { conditions: ['source'] },
    ssr: { resolve: { conditions: ['source'], externalConditions: ['source'] } },
    test: {
      environment: 'node',
      // Test files share workers: a new worker per file would import the packages 400 times.
      isolate: false,
      testTimeout: 60_000,
      hookTimeout: 60_000,
      // A condition that holds quickly on an idle machine can take many seconds on a busy one.
      expect: { poll: { timeout: 30_000, interval: 20 } },
      // Each concurrent test starts its own Node process.
      maxConcurrency: 2,
      sequence: { sequencer: LongestFirst },
      env: {
        // With compiled modules in the cache, Node starts several hundred TypeScript files in less than half the time.
        NODE_COMPILE_CACHE: join(root, '.tmp', 'compile-cache'),
        ...env,
      },
      ...test,
    },
  }
}

/** The test files that take their size from `conformance/src/scale.ts`. */
export function scaledTests(): string[] {
  const files = globSync('{packages/*,conformance,examples}/test/**/*.test.ts', { cwd: root }).filter(
    (file) => /^import .* from '.*\/src\/scale\.ts'$/m.test(readFileSync(join(root, file), 'utf8')),
  )
  if (files.length === 0) throw new Error('No test imports conformance/src/scale.ts.')
  return files.toSorted()
}
