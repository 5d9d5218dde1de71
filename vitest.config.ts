import { readdirSync } from 'node:fs'
import { defineConfig } from 'vitest/config'

const packages = readdirSync(new URL('packages', import.meta.url)).map((name) => `packages/${name}`)

/** Each package is a project of its own; what spans packages lives in `house`. */
const project = (name: string, include: string[]) => ({
  extends: true as const,
  test: { name, include },
})

export default defineConfig({
  resolve: { conditions: ['source'] },
  ssr: { resolve: { conditions: ['source'], externalConditions: ['source'] } },
  test: {
    environment: 'node',
    globalSetup: ['scripts/system-packages.ts'],
    reporters: ['default', ['json', { outputFile: '.tmp/test-report.json' }]],
    testTimeout: 60_000,
    hookTimeout: 60_000,
    // Tests wait more than they compute; by default one core would be left idle.
    maxWorkers: 2,
    projects: [
      ...packages.map((folder) => project(folder.replace('packages/', ''), [`${folder}/test/**/*.test.ts`])),
      project('house', [
        'scripts/test/**/*.test.ts',
        'conformance/test/**/*.test.ts',
        'contract/test/**/*.test.ts',
        'docs/test/**/*.test.ts',
        'examples/test/**/*.test.ts',
      ]),
    ],
  },
})
