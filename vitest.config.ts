import { defineConfig } from 'vitest/config'
import { testConfig } from './scripts/test-settings.ts'

/** Every promise once: `npm test`. */
export default defineConfig(
  testConfig({
    include: ['{packages/*,scripts,conformance,contract,docs,examples}/test/**/*.test.ts'],
    globalSetup: ['scripts/system-packages.ts'],
    reporters: ['default', ['json', { outputFile: '.tmp/test-report.json' }]],
    // Tests wait more than they compute: with as many workers as cores, a core is idle for a quarter of the time.
    maxWorkers: 3,
  }),
)
