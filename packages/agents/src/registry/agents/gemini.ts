import { can } from '../capabilities.ts'
import type { AgentEntry } from '../entry.ts'
import { option } from '../option.ts'

export const gemini: AgentEntry = {
  name: 'gemini',
  title: 'Gemini CLI',
  aliases: ['gemini-cli'],
  source: {
    kind: 'npm',
    packages: [{ name: '@google/gemini-cli', version: '0.61.0' }],
    run: { with: 'node', path: 'node_modules/.bin/gemini', args: ['--acp'] },
  },
  env: {},
  credentials: {
    variables: ['GEMINI_API_KEY', 'GOOGLE_API_KEY'],
    files: ['.gemini/oauth_creds.json', '.gemini/.env'],
    alongside: {
      variables: [
        'GOOGLE_CLOUD_PROJECT',
        'GOOGLE_CLOUD_LOCATION',
        'GOOGLE_GENAI_USE_VERTEXAI',
        'GOOGLE_GEMINI_BASE_URL',
        'GEMINI_MODEL',
      ],
      files: ['.gemini/google_accounts.json', '.gemini/settings.json'],
    },
  },
  endpoints: [
    'generativelanguage.googleapis.com:443',
    'cloudcode-pa.googleapis.com:443',
    'oauth2.googleapis.com:443',
    'aiplatform.googleapis.com:443',
  ],
  modelEndpoint: {
    dialect: 'gemini',
    path: '',
    env: { GEMINI_API_KEY: '{key}', GOOGLE_GEMINI_BASE_URL: '{url}', GEMINI_MODEL: '{model}' },
    files: {
      '.gemini/settings.json': JSON.stringify(
        {
          security: { auth: { selectedType: 'gemini-api-key' } },
          general: { disableAutoUpdate: true, enableAutoUpdate: false },
          privacy: { usageStatisticsEnabled: false },
          telemetry: { enabled: false },
        },
        undefined,
        2,
      ),
    },
    defaultModel: 'gemini-2.5-flash',
  },
  isolation: { notRoot: false, innerSandboxOff: { env: { GEMINI_SANDBOX: 'false' } } },
  capabilities: can('permissions', 'images', 'load', 'modes', 'models', 'mcp', 'shared'),
  options: [
    option('model', 'model', 'Model', 'auto', {
      auto: 'Auto',
      'gemini-2.5-pro': 'gemini-2.5-pro',
      'gemini-3.8-flash': 'gemini-3.8-flash',
      'gemini-3.5-flash-lite': 'gemini-3.5-flash-lite',
    }),
    option('mode', 'mode', 'Mode', 'default', {
      default: 'Default',
      autoEdit: 'Auto Edit',
      yolo: 'YOLO',
      plan: 'Plan',
    }),
  ],
  quirks: {
    noFiles: true,
    loadsAfterMs: 61_000,
    notes: [
      'If the client offers file methods, writing a new file fails.',
      'A session cannot be loaded within a minute of its start.',
      'Its first message about a tool call may be the permission request.',
      'A model error has the code 400, which is not a JSON-RPC code.',
      'It restarts itself as a child: two processes, to be killed as a group.',
      'Its install scripts need a network (node-gyp) and are not required.',
    ],
  },
}
