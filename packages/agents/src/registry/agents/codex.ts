import { can } from '../capabilities.ts'
import type { AgentEntry } from '../entry.ts'
import { option } from '../option.ts'

export const codex: AgentEntry = {
  name: 'codex',
  title: 'Codex',
  source: {
    kind: 'npm',
    packages: [
      { name: '@agentclientprotocol/codex-acp', version: '2.6.0' },
      { name: '@openai/codex', version: '0.166.0' },
    ],
    run: { with: 'node', path: 'node_modules/.bin/codex-acp', args: [] },
  },
  env: {
    // Selects login with the API key from the environment, so that the client need not call `authenticate`.
    DEFAULT_AUTH_REQUEST: '{"methodId":"api-key"}',
    NO_BROWSER: '1',
  },
  credentials: {
    variables: ['OPENAI_API_KEY', 'CODEX_API_KEY'],
    files: ['.codex/auth.json'],
    alongside: { variables: ['OPENAI_BASE_URL'] },
  },
  endpoints: ['api.openai.com:443', 'chatgpt.com:443', 'auth.openai.com:443'],
  modelEndpoint: {
    dialect: 'openai-responses',
    path: '/v1',
    env: { CODEX_HOME: '{home}/.codex', VITRINE_MODEL_KEY: '{key}' },
    files: {
      '.codex/config.toml': `model = "{model}"
model_provider = "custom"
check_for_update_on_startup = false
[analytics]
enabled = false
[model_providers.custom]
name = "Custom"
base_url = "{url}"
env_key = "VITRINE_MODEL_KEY"
wire_api = "responses"
request_max_retries = 0
stream_max_retries = 0
`,
    },
    defaultModel: 'gpt-5.5',
  },
  isolation: { notRoot: false, innerSandboxOff: { mode: 'agent-full-access' } },
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
    'thoughtLevels',
    'mcp',
    'shared',
  ),
  options: [
    option('model', 'model', 'Model', 'gpt-6.1-sol', {
      'gpt-6.1-sol': '6.1 Sol',
      'gpt-6-astra': '6 Astra',
      'gpt-6-sol': '6 Sol',
      'gpt-6-luna': '6 Luna',
      'gpt-5.6-sol': '5.6 Sol',
      'gpt-6.1-terra': '6.1 Terra',
      'gpt-5.6-terra': '5.6 Terra',
      'gpt-5.6-luna': '5.6 Luna',
      'gpt-5.5': '5.5',
    }),
    option('mode', 'mode', 'Mode', 'agent', {
      'read-only': 'Read-only',
      'workspace-write': 'Workspace access',
      agent: 'Auto review',
      'agent-full-access': 'Full access',
    }),
    option('thought_level', 'reasoning_effort', 'Reasoning effort', 'medium', {
      low: 'Low',
      medium: 'Medium',
      high: 'High',
      xhigh: 'Xhigh',
    }),
  ],
  quirks: {
    errorMessage:
      '^(\\{"error":|exceeded retry limit, last status: |unexpected status \\d{3} |stream disconnected before ' +
      'completion: |We.re currently experiencing high demand)',
    notes: [
      'CODEX_HOME must not be below TMPDIR, or its own sandbox fails at every shell call.',
      'If CODEX_HOME is set, that directory must exist; the default ~/.codex is created.',
      'Its own sandbox is bubblewrap, which cannot be built inside ours: use the mode `agent-full-access`.',
      'In its default mode, `agent`, a model reviews tool calls and no permission is requested; `read-only` requests them.',
      'Its tool for questions fails in sessions of the protocol: it is unavailable in what Codex calls its default mode.',
      'A rejected permission ends the turn as cancelled; a model error ends it as `end_turn`, the error as a message.',
      'A cancelled shell command runs on, and its tool call is never closed.',
      'With an unknown model it adds a warning to every turn and has no apply_patch.',
      'INITIAL_AGENT_MODE sets its initial mode.',
    ],
  },
}
