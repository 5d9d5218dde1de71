import { defineConfig } from 'vitest/config'
import { testConfig } from './scripts/test-settings.ts'

/** Real agents, end to end. `npm run test:agents` installs them first and keeps them from the network. */
export default defineConfig(
  testConfig({
    name: 'agents',
    include: ['conformance/agents/*.test.ts'],
    reporters: ['verbose', ['json', { outputFile: '.tmp/agents-report.json' }]],
    // An agent takes a core for itself while it starts.
    maxWorkers: 2,
  }),
)
