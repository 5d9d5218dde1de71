import { readFile } from 'node:fs/promises'
import * as client from '@vitrine/client'
import { expect, it } from 'vitest'
import * as onlyClient from '../src/client.ts'
import * as vitrine from '../src/index.ts'

const source = new URL('../src/', import.meta.url)

it('exports these values and no others', () => {
  expect(Object.keys(vitrine).sort()).toEqual([
    'SandboxRunAbortError',
    'SandboxRunError',
    'VitrineError',
    'callbackSink',
    'changedFilesView',
    'commandPolicy',
    'connect',
    'createSandbox',
    'defineSandbox',
    'diffText',
    'escapeForTerminal',
    'eventLine',
    'httpSink',
    'inProcessSandboxClient',
    'inlineSandboxClient',
    'isGap',
    'isVitrineError',
    'jsonlSink',
    'listAgents',
    'listChangedFiles',
    'listTranscript',
    'local',
    'memoryStore',
    'openHost',
    'openSandboxRun',
    'openStore',
    'otlpSink',
    'parseAgent',
    'rebuild',
    'secretsFile',
    'sqliteStore',
    'transcriptText',
    'transcriptView',
    'unifiedDiff',
    'watchWorkspace',
    'workspaceJsonlSink',
  ])
})

it('exports as vitrine/client exactly the values of the client', () => {
  expect({ ...onlyClient }).toEqual({ ...client })
})

it.each([
  ['index.ts', "export {} from '@vitrine/protocol/require-node'"],
  ['client.ts', ''],
])(
  'has in %s a list of exports and nothing else but the check of Node where it is for Node',
  async (name, check) => {
    const text = await readFile(new URL(name, source), 'utf8')
    const rest = text
      .replace(/\/\*\*.*?\*\//gs, '')
      .replace(/export (type )?(\*|\{[^}]+\}) from '@vitrine\/\w+'\n/g, '')
    expect(rest.trim()).toBe(check)
  },
)
