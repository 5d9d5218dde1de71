import { can } from '../capabilities.ts'
import type { AgentEntry } from '../entry.ts'
import { option } from '../option.ts'
import { openCodeConfig } from './opencode-config.ts'
import { providerEndpoints, providerVariables } from './providers.ts'

export const kilo: AgentEntry = {
  name: 'kilo',
  title: 'Kilo Code',
  aliases: ['kilocode'],
  source: {
    kind: 'npm',
    packages: [{ name: '@kilocode/cli', version: '7.7.7' }],
    postinstall: 'node_modules/@kilocode/cli/postinstall.mjs',
    run: { with: 'node', path: 'node_modules/.bin/kilo', args: ['acp'] },
  },
  env: { KILO_DISABLE_AUTOUPDATE: '1', KILO_DISABLE_MODELS_FETCH: '1' },
  credentials: {
    variables: ['KILO_API_KEY', ...providerVariables],
    files: ['.local/share/kilo/auth.json'],
    alongside: { files: ['.config/kilo/kilo.json'] },
  },
  endpoints: ['api.kilo.ai:443', ...providerEndpoints],
  modelEndpoint: {
    dialect: 'openai-chat',
    path: '/v1',
    env: {},
    files: { '.config/kilo/kilo.json': openCodeConfig },
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
  options: [
    option('mode', 'mode', 'Session Mode', 'code', {
      code: 'code',
      ask: 'ask',
      debug: 'debug',
      orchestrator: 'orchestrator',
      plan: 'plan',
    }),
  ],
  quirks: {
    notes: [
      'Release 7.8.1 has no program for Linux on x64, but its installation succeeds: use the pinned version.',
      'It uses 640 MB of memory before the first prompt, more than any other agent.',
      'Its tool for questions waits for an answer that it does not request: the turn runs until it is cancelled.',
      'It is a fork of OpenCode and behaves like it.',
    ],
  },
}
