import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import type { AgentEntry } from '../../packages/agents/src/registry/entry.ts'
import { knownAgents } from '../../packages/agents/src/registry/known-agents.ts'
import { code, rowsBelow } from './table-rows.ts'

const page = readFileSync(new URL('../agents.md', import.meta.url), 'utf8')

function rowOf({ name, aliases = [], title, source, credentials, modelEndpoint, capabilities }: AgentEntry) {
  const { permissions, resume, load, fork } = capabilities
  return [
    [name, ...aliases].map(code).join(', '),
    title,
    comesFrom(source),
    credentials.variables.slice(0, 2).map(code).join(', '),
    modelEndpoint?.dialect ?? '–',
    permissions ? 'yes' : 'no',
    resume ? 'resume' : load ? 'load' : 'transcript',
    fork ? 'yes' : 'no',
  ]
}

function comesFrom(source: AgentEntry['source']): string {
  switch (source.kind) {
    case 'npm':
      return source.packages.map((one) => `${code(one.name)} ${one.version}`).join(', ')
    case 'command':
      return `the command ${code(source.command.join(' '))}`
    case 'builtin':
      return 'built in'
  }
}

it('the table of agents matches the registry', () => {
  expect(rowsBelow(page, 'Known agents')).toEqual(knownAgents.map(rowOf))
})

it('the table of quirks names only known agents', () => {
  const named = rowsBelow(page, 'Quirks').flatMap(([agents = '']) => agents.replaceAll('`', '').split(', '))
  const known: string[] = knownAgents.map(({ name }) => name)
  expect(known).toEqual(expect.arrayContaining([...new Set(named)]))
})
