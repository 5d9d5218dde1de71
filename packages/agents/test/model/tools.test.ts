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
])('makes %s write a file with its tool %s', (_, name, types, input) => {
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
])('makes %s run a command with its tool %s', (_, name, types, input) => {
  expect(callToRun([reader, tool(name, types)], 'ls')).toEqual({ kind: 'function', name, input })
})

test('leaves out optional arguments of a tool', () => {
  const bash = tool('bash', { command: 'string', timeout: 'number' }, ['command'])
  expect(callToRun([bash], 'ls')?.input).toEqual({ command: 'ls' })
})

test('passes a patch to a tool with plain text input', () => {
  expect(callToWrite([{ kind: 'text', name: 'apply_patch' }], 'a.txt', 'one\ntwo')).toEqual({
    kind: 'text',
    name: 'apply_patch',
    input: '*** Begin Patch\n*** Add File: a.txt\n+one\n+two\n*** End Patch',
  })
})

test('writes with the shell when there is no tool that writes', () => {
  expect(callToWrite([tool('exec_command', { cmd: 'string' })], 'a.txt', "it's")?.input).toEqual({
    cmd: "printf '%s' 'it'\\''s' > 'a.txt'",
  })
})

test('gives a reason when a command leaves the sandbox of Codex', () => {
  expect(callToRunEscalated([tool('exec_command', { cmd: 'string' })], 'id')?.input).toEqual({
    cmd: 'id',
    sandbox_permissions: 'require_escalated',
    justification: 'May I run id outside the sandbox?',
  })
})

test('makes no call when no tool fits', () => {
  expect(callToRun([reader], 'ls')).toBeUndefined()
  expect(callToWrite([reader], 'a', 'b')).toBeUndefined()
})
