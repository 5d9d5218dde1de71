import { can } from '../capabilities.ts'
import type { AgentEntry } from '../entry.ts'
import { option } from '../option.ts'
import { providerEndpoints, providerVariables } from './providers.ts'

export const pi: AgentEntry = {
  name: 'pi',
  title: 'Pi',
  source: {
    kind: 'npm',
    packages: [
      { name: 'pi-acp', version: '0.0.34' },
      { name: '@earendil-works/pi-coding-agent', version: '0.87.1' },
    ],
    run: { with: 'node', path: 'node_modules/.bin/pi-acp', args: [] },
  },
  env: { PI_OFFLINE: '1', PI_SKIP_VERSION_CHECK: '1', PI_CODING_AGENT_DIR: '{home}/.pi/agent' },
  credentials: {
    variables: ['ANTHROPIC_OAUTH_TOKEN', ...providerVariables],
    files: ['.pi/agent/auth.json'],
    alongside: { files: ['.pi/agent/models.json', '.pi/agent/settings.json'] },
  },
  endpoints: providerEndpoints,
  modelEndpoint: {
    dialect: 'openai-chat',
    path: '/v1',
    env: { PI_CODING_AGENT_DIR: '{home}/.pi/agent' },
    files: {
      '.pi/agent/models.json': JSON.stringify(
        {
          providers: {
            custom: {
              baseUrl: '{url}',
              api: 'openai-completions',
              apiKey: '{key}',
              models: [
                {
                  id: '{model}',
                  name: '{model}',
                  reasoning: true,
                  input: ['text'],
                  contextWindow: 100_000,
                  maxTokens: 4_096,
                  cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
                },
              ],
            },
          },
        },
        undefined,
        2,
      ),
      '.pi/agent/settings.json': JSON.stringify(
        { defaultProvider: 'custom', defaultModel: '{model}', quietStartup: true },
        undefined,
        2,
      ),
    },
    defaultModel: 'default',
  },
  isolation: { notRoot: false },
  capabilities: can('images', 'load', 'list', 'models', 'thoughtLevels', 'shared'),
  options: [
    option('thought_level', 'thought_level', 'Thinking', 'medium', {
      off: 'Thinking: off',
      minimal: 'Thinking: minimal',
      low: 'Thinking: low',
      medium: 'Thinking: medium',
      high: 'Thinking: high',
    }),
  ],
  quirks: {
    // It sends a message per retry; the final text comes after these.
    errorMessage:
      '^(Retrying \\(attempt \\d+/\\d+, waiting \\d+s\\)\\.\\.\\.\\s*|Retry finished, resuming\\.\\s*)+$',
    notes: [
      'It never asks for permission.',
      'A model error ends the turn as `end_turn` without a message; a retryable one after a message per retry.',
      'Its modes are thinking levels.',
      'A load does not replay its thoughts.',
      'Its adapter starts `pi` by name, so PATH must include the directory of its programs.',
      'The releases 1.4.0 and 1.5.0 cannot be installed: one of their packages is missing. Keep to the pin.',
    ],
  },
}
