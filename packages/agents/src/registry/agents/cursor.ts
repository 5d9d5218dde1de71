import { can } from '../capabilities.ts'
import type { AgentEntry } from '../entry.ts'
import { option } from '../option.ts'

export const cursor: AgentEntry = {
  name: 'cursor',
  title: 'Cursor',
  aliases: ['cursor-agent'],
  source: {
    kind: 'command',
    command: ['cursor-agent', 'acp'],
    howToGet:
      "Cursor's agent is not on npm: install its command line as cursor.com/docs/cli says, so that `cursor-agent` is on PATH.",
  },
  env: {},
  credentials: {
    variables: ['CURSOR_API_KEY', 'CURSOR_AUTH_TOKEN'],
    files: ['.config/cursor/auth.json'],
  },
  endpoints: ['api2.cursor.sh:443', 'api5.cursor.sh:443', 'agent.api5.cursor.sh:443'],
  isolation: { notRoot: false },
  capabilities: { ...can('permissions', 'images', 'load', 'modes', 'mcp'), questions: 'unknown' },
  options: [option('mode', 'mode', 'Mode', 'agent', { agent: 'Agent', plan: 'Plan', ask: 'Ask' })],
  quirks: {
    notes: [
      'Not tested: this entry follows its documentation.',
      'Its documentation requires `authenticate` with `cursor_login` before a session.',
      'Some installations call the program `agent`.',
    ],
  },
}
