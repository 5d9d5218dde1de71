import { can } from '../capabilities.ts'
import type { AgentEntry } from '../entry.ts'
import { option } from '../option.ts'

export const qwen: AgentEntry = {
  name: 'qwen',
  title: 'Qwen Code',
  aliases: ['qwen-code'],
  source: {
    kind: 'npm',
    packages: [{ name: '@qwen-code/qwen-code', version: '0.24.4' }],
    run: { with: 'node', path: 'node_modules/.bin/qwen', args: ['--acp'] },
  },
  env: {},
  credentials: {
    variables: ['OPENAI_API_KEY', 'DASHSCOPE_API_KEY'],
    files: ['.qwen/oauth_creds.json', '.qwen/.env'],
    alongside: { variables: ['OPENAI_BASE_URL', 'OPENAI_MODEL'], files: ['.qwen/settings.json'] },
  },
  endpoints: [
    'dashscope.aliyuncs.com:443',
    'dashscope-intl.aliyuncs.com:443',
    'chat.qwen.ai:443',
    'portal.qwen.ai:443',
    'api.openai.com:443',
  ],
  modelEndpoint: {
    dialect: 'openai-chat',
    path: '/v1',
    env: { OPENAI_API_KEY: '{key}', OPENAI_BASE_URL: '{url}', OPENAI_MODEL: '{model}' },
    files: {
      '.qwen/settings.json': JSON.stringify(
        {
          security: { auth: { selectedType: 'openai' } },
          model: { name: '{model}' },
          general: { disableAutoUpdate: true, enableAutoUpdate: false },
          privacy: { usageStatisticsEnabled: false },
          telemetry: { enabled: false },
        },
        undefined,
        2,
      ),
    },
    defaultModel: 'default',
  },
  isolation: { notRoot: false },
  capabilities: can('permissions', 'images', 'load', 'resume', 'list', 'modes', 'models', 'mcp', 'shared'),
  options: [
    option('mode', 'mode', 'Mode', 'auto', {
      plan: 'Plan',
      default: 'Default',
      'auto-edit': 'Auto Edit',
      auto: 'Auto',
      yolo: 'YOLO',
    }),
  ],
  quirks: {
    notes: [
      'Its initial mode is `auto`: it writes in its directory without permission and asks before a shell command.',
      'It calls `craft/drainMidTurnQueue` on the client, and continues after an error response.',
      'Its permission options include two of kind allow_once and none of kind allow_always.',
      'It asks a question as a permission request, whose response cannot carry the answer.',
      'It stops commands that begin with `sleep` itself.',
      'Without a version, npm on an old Node silently installs an old release: use the pinned version.',
    ],
  },
}
