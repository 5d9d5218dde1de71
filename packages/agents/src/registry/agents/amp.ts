import { can } from '../capabilities.ts'
import type { AgentEntry } from '../entry.ts'

export const amp: AgentEntry = {
  name: 'amp',
  title: 'Amp',
  source: {
    kind: 'command',
    command: ['amp-acp'],
    howToGet:
      'Amp does not speak the Agent Client Protocol itself, and no adapter for it is on npm: install Amp and an adapter ' +
      'for it, so that `amp-acp` is on PATH.',
  },
  env: {},
  credentials: { variables: ['AMP_API_KEY'], files: ['.local/share/amp/secrets.json'] },
  endpoints: ['ampcode.com:443'],
  isolation: { notRoot: false },
  capabilities: can('permissions', 'images', 'mcp'),
  options: [],
  quirks: { notes: ['Not tried: what is said of it here is what its documents say.'] },
}
