import { readFile } from 'node:fs/promises'
import { expect, it } from 'vitest'
import * as sandbox from '../src/index.ts'

it('the index exports these values and no others', () => {
  expect(Object.keys(sandbox).sort()).toEqual([
    'appendPrivately',
    'assertBindsAllowed',
    'commandPolicy',
    'createEventOnlySandbox',
    'createLocalSandbox',
    'diskUsage',
    'drainOutput',
    'judge',
    'killOrphans',
    'local',
    'ownTemporaryData',
    'policyRules',
    'processMark',
    'readLogs',
    'recordDestroyed',
    'removeAllPlaced',
    'removeFolder',
    'removeLeftVolume',
    'unmountLeftVolumes',
    'unmountVolumesOfDead',
    'wasStarted',
  ])
})

it('the index exports these types and no others', async () => {
  const text = await readFile(new URL('../src/index.ts', import.meta.url), 'utf8')
  const lists = [...text.matchAll(/export (type )?\{([^}]*)\}/g)]
  const names = lists.flatMap(([, isType, list = '']) =>
    list
      .split(',')
      .map((name) => name.trim())
      .filter((name) => name !== '' && (isType || name.startsWith('type ')))
      .map((name) => name.replace(/^type /, '')),
  )
  expect(names.sort()).toEqual([
    'ArchiveLimits',
    'AskAboutCommand',
    'BuiltMachine',
    'CommandPolicy',
    'CommandPolicyOptions',
    'Grant',
    'Isolation',
    'JudgedPart',
    'Judgement',
    'LiveReads',
    'LocalOptions',
    'LocalProvider',
    'LocalSandbox',
    'LocalSandboxOptions',
    'PipedProcess',
    'PrivateTarget',
    'ProcessMark',
    'Rule',
    'SandboxEnd',
    'SandboxEngine',
    'SandboxLimits',
    'SetupStep',
    'Verdict',
    'WatchOptions',
    'WorkspaceManifest',
  ])
})

it('the index is a list of exports and the check of Node', async () => {
  const text = await readFile(new URL('../src/index.ts', import.meta.url), 'utf8')
  const rest = text
    .replace(/\/\*\*.*?\*\//gs, '')
    .replace(
      /export (type )?\{[^}]*\} from '(\.\/[\w./-]+\.ts|@vitrine\/(archives|protocol|command-policy))'\n/g,
      '',
    )
  expect(rest.trim()).toBe("export {} from '@vitrine/protocol/require-node'")
})
