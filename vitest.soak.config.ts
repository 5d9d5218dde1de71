import { defineConfig } from 'vitest/config'
import { scaledTests, testConfig } from './scripts/test-settings.ts'

/** Repetition and scale, the kits on further sandboxes, and every benchmark once with tiny sizes: `npm run test:soak`. */
export default defineConfig(
  testConfig({
    name: 'soak',
    globalSetup: ['scripts/system-packages.ts'],
    include: [...scaledTests(), 'conformance/soak/**/*.test.ts', 'bench/test/**/*.test.ts'],
    env: { VITRINE_SOAK: '1' },
    reporters: ['default', ['json', { outputFile: '.tmp/soak-report.json' }]],
    maxWorkers: 2,
    testTimeout: 600_000,
    hookTimeout: 600_000,
  }),
)
