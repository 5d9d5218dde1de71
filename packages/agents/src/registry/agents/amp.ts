import { can } from '../capabilities.ts'
import type { AgentEntry } from '../entry.ts'

export const amp: AgentEntry = {
  name: 'amp',
  title: 'Amp',
  source: {
    kind: 'command',
    command: ['amp-acp'],
    howToGet:
      'Amp does not speak the Agent Client Protocol itself, and npm has no adapter for it: install Amp and an ' +
      'adapter, so that `amp-acp` is on PATH.',
  },
  env: {},
  credentials: { variables: ['AMP_API_KEY'], files: ['.local/share/amp/secrets.json'] },
  endpoints: ['ampcode.com:443'],
  isolation: { notRoot: false },
  capabilities: { ...can('permissions', 'images', 'mcp'), questions: 'unknown' },
  options: [],
  quirks: { notes: ['Not tested: this entry follows its documentation.'] },
}
