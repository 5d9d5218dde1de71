import { can } from '../capabilities.ts'
import type { AgentEntry } from '../entry.ts'
import { option } from '../option.ts'

const mode = 'https://agentclientprotocol.com/protocol/session-modes#'

export const copilot: AgentEntry = {
  name: 'copilot',
  title: 'GitHub Copilot',
  aliases: ['github-copilot'],
  source: {
    kind: 'npm',
    packages: [{ name: '@github/copilot', version: '1.0.102' }],
    run: { with: 'node', path: 'node_modules/.bin/copilot', args: ['--acp'] },
  },
  env: { COPILOT_AUTO_UPDATE: 'false' },
  credentials: {
    variables: ['COPILOT_GITHUB_TOKEN', 'GH_TOKEN', 'GITHUB_TOKEN', 'COPILOT_PROVIDER_API_KEY'],
    files: ['.copilot/config.json'],
    alongside: {
      variables: [
        'COPILOT_PROVIDER_BASE_URL',
        'COPILOT_PROVIDER_TYPE',
        'COPILOT_PROVIDER_WIRE_API',
        'COPILOT_MODEL',
      ],
    },
  },
  endpoints: [
    'api.github.com:443',
    'api.githubcopilot.com:443',
    'api.individual.githubcopilot.com:443',
    'api.business.githubcopilot.com:443',
    'api.enterprise.githubcopilot.com:443',
  ],
  modelEndpoint: {
    dialect: 'openai-chat',
    path: '/v1',
    env: {
      COPILOT_PROVIDER_BASE_URL: '{url}',
      COPILOT_PROVIDER_API_KEY: '{key}',
      COPILOT_MODEL: '{model}',
      COPILOT_OFFLINE: 'true',
    },
    files: {},
    defaultModel: 'default',
  },
  isolation: { notRoot: false },
  capabilities: can('permissions', 'images', 'load', 'list', 'close', 'modes', 'models', 'mcp', 'shared'),
  options: [
    option('mode', 'mode', 'Mode', `${mode}agent`, {
      [`${mode}agent`]: 'Agent',
      [`${mode}plan`]: 'Plan',
      [`${mode}autopilot`]: 'Autopilot',
    }),
  ],
  quirks: {
    // It sends a message per retry before the error.
    errorMessage:
      '^\\s*(Info: Response was interrupted due to a server error\\. Retrying\\.\\.\\.\\s*)*' +
      'Error: (\\d{3}\\b|Failed to get response from the AI model|Model .* not found on provider)',
    notes: [
      'A model error ends the turn as `end_turn`, the error as a message.',
      'A cancelled tool call stays pending.',
      'The ids of its modes are URLs.',
      'GH_TOKEN and GITHUB_TOKEN may grant far more than Copilot needs: prefer COPILOT_GITHUB_TOKEN.',
      'On a machine with a keychain, the login is there, not in a file.',
    ],
  },
}
