import { defineConfig } from 'vitest/config'

/** Real agents, end to end. `npm run test:agents` installs them first and keeps them from the network. */
export default defineConfig({
  resolve: { conditions: ['source'] },
  ssr: { resolve: { conditions: ['source'], externalConditions: ['source'] } },
  test: {
    name: 'agents',
    environment: 'node',
    include: ['conformance/agents/*.test.ts'],
    reporters: ['verbose', ['json', { outputFile: '.tmp/agents-report.json' }]],
    // An agent takes a core for itself while it starts.
    maxWorkers: 2,
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
})
