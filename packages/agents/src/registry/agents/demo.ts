import { can } from '../capabilities.ts'
import type { AgentEntry } from '../entry.ts'
import { option } from '../option.ts'

export const demo: AgentEntry = {
  name: 'demo',
  title: 'Demo',
  aliases: ['mock'],
  source: { kind: 'builtin', script: 'demo/main' },
  env: {},
  credentials: { variables: ['DEMO_API_KEY'], files: [] },
  endpoints: [],
  isolation: { notRoot: false },
  capabilities: can(
    'permissions',
    'questions',
    'images',
    'load',
    'resume',
    'fork',
    'list',
    'close',
    'modes',
    'models',
    'thoughtLevels',
    'mcp',
    'shared',
  ),
  options: [
    option('model', 'model', 'Model', 'storyteller', { storyteller: 'Storyteller', sprinter: 'Sprinter' }),
    option('mode', 'mode', 'Mode', 'ask', { ask: 'Ask', auto: 'Auto', plan: 'Plan' }),
    option('thought_level', 'thought_level', 'Thinking', 'low', { off: 'Off', low: 'Low', high: 'High' }),
  ],
  quirks: {
    notes: [
      'It has no model: a script decides what it does.',
      'It requires DEMO_API_KEY only if VITRINE_DEMO_REQUIRE_KEY=1 is set.',
    ],
  },
}
