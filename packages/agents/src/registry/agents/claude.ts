import { can } from '../capabilities.ts'
import type { AgentEntry } from '../entry.ts'
import { option } from '../option.ts'

export const claude: AgentEntry = {
  name: 'claude',
  title: 'Claude Code',
  aliases: ['claude-code'],
  source: {
    kind: 'npm',
    packages: [{ name: '@agentclientprotocol/claude-agent-acp', version: '0.99.1' }],
    run: { with: 'node', path: 'node_modules/.bin/claude-agent-acp', args: [] },
  },
  env: { CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1', DISABLE_AUTOUPDATER: '1' },
  credentials: {
    variables: ['ANTHROPIC_API_KEY', 'CLAUDE_CODE_OAUTH_TOKEN', 'ANTHROPIC_AUTH_TOKEN'],
    files: ['.claude/.credentials.json'],
    alongside: { variables: ['ANTHROPIC_BASE_URL', 'ANTHROPIC_MODEL'], files: ['.claude.json'] },
  },
  endpoints: ['api.anthropic.com:443', 'platform.claude.com:443', 'console.anthropic.com:443'],
  modelEndpoint: {
    dialect: 'anthropic',
    path: '',
    env: {
      ANTHROPIC_BASE_URL: '{url}',
      ANTHROPIC_API_KEY: '{key}',
      ANTHROPIC_MODEL: '{model}',
      CLAUDE_CONFIG_DIR: '{home}/.claude',
    },
    files: {},
  },
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
    option('model', 'model', 'Model', 'default', {
      default: 'Default (recommended)',
      opus: 'Opus',
      fable: 'Fable',
      sonnet: 'Sonnet',
      haiku: 'Haiku',
    }),
    option('mode', 'mode', 'Mode', 'default', {
      default: 'Manual',
      acceptEdits: 'Accept edits',
      plan: 'Plan',
      auto: 'Auto',
      bypassPermissions: 'Bypass permissions',
    }),
    option('thought_level', 'effort', 'Effort', 'default', {
      default: 'Default',
      low: 'Low',
      medium: 'Medium',
      high: 'High',
      xhigh: 'Xhigh',
      max: 'Max',
    }),
  ],
  quirks: {
    errorMessage: '^(Failed to authenticate\\. )?API Error: ',
    notes: [
      'As root it has no mode `bypassPermissions` unless IS_SANDBOX=1 is set.',
      'It also requests a session title from its model, in a request without tools.',
      'A model error is both an error response to the prompt and a message.',
      'Without a version, npm on an old Node silently installs an old release: use the pinned version.',
      'On macOS the login is in the keychain, not in a file.',
    ],
  },
}
