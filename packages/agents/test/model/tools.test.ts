import { expect, test } from 'vitest'
import { callToRun, callToRunEscalated, callToWrite, type Tool } from './tools.ts'

const tool = (name: string, types: Record<string, string>, required = Object.keys(types)): Tool => ({
  kind: 'function',
  name,
  parameters: {
    properties: Object.fromEntries(Object.entries(types).map(([key, type]) => [key, { type }])),
    required,
  },
})

const text = 'A short title'
const reader = tool('read', { file_path: 'string', content: 'string' })

test.each([
  ['claude', 'Write', { file_path: 'string', content: 'string' }, { file_path: '/a', content: 'x' }],
  ['opencode', 'write', { content: 'string', filePath: 'string' }, { filePath: '/a', content: 'x' }],
  ['gemini', 'write_file', { file_path: 'STRING', content: 'STRING' }, { file_path: '/a', content: 'x' }],
  ['pi', 'write', { path: 'string', content: 'string' }, { path: '/a', content: 'x' }],
  ['cline 2', 'write_to_file', { path: 'string', content: 'string' }, { path: '/a', content: 'x' }],
  ['cline 3', 'editor', { path: 'string', new_text: 'string' }, { path: '/a', new_text: 'x' }],
  ['copilot', 'create', { path: 'string', file_text: 'string' }, { path: '/a', file_text: 'x' }],
])('%s writes with its %s', (_, name, types, input) => {
  expect(callToWrite([reader, tool(name, types)], '/a', 'x')).toEqual({ kind: 'function', name, input })
})

test.each([
  ['claude', 'Bash', { command: 'string', description: 'string' }, { command: 'ls', description: text }],
  ['codex', 'exec_command', { cmd: 'string' }, { cmd: 'ls' }],
  ['old codex', 'shell', { command: 'array' }, { command: ['bash', '-lc', 'ls'] }],
  ['gemini', 'run_shell_command', { command: 'STRING' }, { command: 'ls' }],
  [
    'cline 2',
    'execute_command',
    { command: 'string', requires_approval: 'boolean' },
    { command: 'ls', requires_approval: true },
  ],
  ['cline 3', 'run_commands', { commands: 'array' }, { commands: ['ls'] }],
])('%s runs with its %s', (_, name, types, input) => {
  expect(callToRun([reader, tool(name, types)], 'ls')).toEqual({ kind: 'function', name, input })
})

test('what a tool does not require is left out', () => {
  const bash = tool('bash', { command: 'string', timeout: 'number' }, ['command'])
  expect(callToRun([bash], 'ls')?.input).toEqual({ command: 'ls' })
})

test('a tool that takes plain text gets a patch', () => {
  expect(callToWrite([{ kind: 'text', name: 'apply_patch' }], 'a.txt', 'one\ntwo')).toEqual({
    kind: 'text',
    name: 'apply_patch',
    input: '*** Begin Patch\n*** Add File: a.txt\n+one\n+two\n*** End Patch',
  })
})

test('without a tool that writes, the shell does', () => {
  expect(callToWrite([tool('exec_command', { cmd: 'string' })], 'a.txt', "it's")?.input).toEqual({
    cmd: "printf '%s' 'it'\\''s' > 'a.txt'",
  })
})

test('leaving the sandbox of Codex needs a reason', () => {
  expect(callToRunEscalated([tool('exec_command', { cmd: 'string' })], 'id')?.input).toEqual({
    cmd: 'id',
    sandbox_permissions: 'require_escalated',
    justification: 'May I run id outside the sandbox?',
  })
})

test('without any fitting tool there is no call', () => {
  expect(callToRun([reader], 'ls')).toBeUndefined()
  expect(callToWrite([reader], 'a', 'b')).toBeUndefined()
})
