import { can } from '../capabilities.ts'
import type { AgentEntry } from '../entry.ts'
import { option } from '../option.ts'
import { openCodeConfig } from './opencode-config.ts'
import { providerEndpoints, providerVariables } from './providers.ts'

export const opencode: AgentEntry = {
  name: 'opencode',
  title: 'OpenCode',
  source: {
    kind: 'npm',
    packages: [{ name: 'opencode-ai', version: '1.18.33' }],
    postinstall: 'node_modules/opencode-ai/postinstall.mjs',
    run: { with: 'itself', path: 'node_modules/.bin/opencode', args: ['acp'] },
  },
  env: {
    OPENCODE_DISABLE_AUTOUPDATE: '1',
    OPENCODE_DISABLE_MODELS_FETCH: '1',
    OPENCODE_DISABLE_LSP_DOWNLOAD: '1',
  },
  credentials: {
    variables: ['OPENCODE_API_KEY', ...providerVariables],
    files: ['.local/share/opencode/auth.json'],
    alongside: { files: ['.config/opencode/opencode.json'] },
  },
  endpoints: ['opencode.ai:443', ...providerEndpoints],
  modelEndpoint: {
    dialect: 'openai-chat',
    path: '/v1',
    env: {},
    files: { '.config/opencode/opencode.json': openCodeConfig },
    defaultModel: 'default',
  },
  isolation: { notRoot: false },
  capabilities: can(
    'permissions',
    'images',
    'load',
    'resume',
    'fork',
    'list',
    'close',
    'modes',
    'models',
    'mcp',
    'shared',
  ),
  options: [option('mode', 'mode', 'Session Mode', 'build', { build: 'build', plan: 'plan' })],
  quirks: {
    notes: [
      'Its postinstall script must run, because it links the program. It needs no network.',
      'It requests permissions only where its configuration says `ask`.',
      'It writes each file itself and again through the client, with the same content.',
      'It has no `modes`; mode and model are config options.',
      'A fork replays the history.',
    ],
  },
}
