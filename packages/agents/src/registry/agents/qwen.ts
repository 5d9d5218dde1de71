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
      'It begins in the mode `auto`: it writes in its directory unasked, and asks before a shell command.',
      'It calls `craft/drainMidTurnQueue` on the client; refused, it goes on.',
      'Among its permission options are two of the kind allow_once and none of allow_always.',
      'A command that begins with `sleep` is ended by a guard of its own.',
      'Without a version, npm on an old Node takes an old release without a word: keep to the pin.',
    ],
  },
}
