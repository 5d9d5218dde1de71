import { can } from '../capabilities.ts'
import type { AgentEntry } from '../entry.ts'
import { option } from '../option.ts'

export const cline: AgentEntry = {
  name: 'cline',
  title: 'Cline',
  source: {
    kind: 'npm',
    packages: [{ name: 'cline', version: '3.0.65' }],
    run: { with: 'itself', path: 'node_modules/.bin/cline', args: ['--acp'] },
  },
  env: {},
  credentials: { variables: ['CLINE_API_KEY'], files: ['.cline/data/settings/providers.json'] },
  endpoints: ['api.cline.bot:443', 'chatgpt.com:443', 'auth.openai.com:443'],
  modelEndpoint: {
    dialect: 'openai-chat',
    path: '/v1',
    env: {},
    files: {
      '.cline/data/settings/providers.json': JSON.stringify(
        {
          version: 1,
          lastUsedProvider: 'cline',
          modes: {},
          providers: {
            cline: {
              settings: { provider: 'cline', apiKey: '{key}', model: '{model}', baseUrl: '{url}' },
              updatedAt: '2026-11-15T00:00:00.000Z',
              tokenSource: 'manual',
            },
          },
        },
        undefined,
        2,
      ),
    },
    defaultModel: 'anthropic/claude-sonnet-4.6',
  },
  isolation: { notRoot: false },
  capabilities: can('permissions', 'images', 'load', 'modes', 'models', 'shared'),
  options: [option('mode', 'mode', 'Mode', 'act', { plan: 'Plan', act: 'Act' })],
  quirks: {
    notes: [
      'It starts a daemon (`--cline-hub-daemon`) that runs until the sandbox ends.',
      'It may send a tool call update before the tool call, and `pending` after `in_progress`.',
      'It accepts only its own providers, so another endpoint is configured as the base URL of `cline`.',
      'It also requests /api/v1/users/me from its endpoint.',
    ],
  },
}
