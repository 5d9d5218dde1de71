import { readFileSync } from 'node:fs'
import type { ConfigOption } from '@vitrine/protocol'
import { expect, it } from 'vitest'
import * as expected from '../../conformance/agents/expected.ts'
import type { AgentEntry } from '../../packages/agents/src/registry/entry.ts'
import { knownAgents } from '../../packages/agents/src/registry/known-agents.ts'
import { code, rowsBelow } from './table-rows.ts'

const page = readFileSync(new URL('../agent-support.md', import.meta.url), 'utf8')

/** A feature that a documentation does not mention was not measured either. */
function absence({ source }: Pick<AgentEntry, 'source'>): string {
  return source.kind === 'command' ? 'not measured' : 'no'
}

function featuresOf({ name, source, capabilities }: AgentEntry): string[] {
  const { permissions, questions, images, mcp, resume, load, fork, list, close, shared } = capabilities
  const answer = (value: boolean | 'unknown') =>
    value === 'unknown' ? 'not measured' : value ? 'yes' : absence({ source })
  return [
    code(name),
    ...[permissions, questions, images, mcp].map(answer),
    resume ? 'resume' : load ? 'load' : 'transcript',
    ...[fork, list, close, shared].map(answer),
    source.kind === 'command' ? 'its documentation' : 'measured',
  ]
}

function choicesOf({ name, source, options, capabilities, modelEndpoint }: AgentEntry): string[] {
  const { modes, models, thoughtLevels } = capabilities
  const cell = (category: string, has: boolean) => {
    const option = options.find((one) => one.category === category)
    return option === undefined ? (has ? 'listed by the session' : absence({ source })) : listed(option)
  }
  return [
    code(name),
    cell('mode', modes),
    cell('model', models),
    cell('thought_level', thoughtLevels),
    modelEndpoint?.dialect ?? 'no',
  ]
}

/** The first value is the current one. Ids that are URLs are shown by their ends. */
function listed({ current, choices }: ConfigOption): string {
  const values = choices.map(({ value }) => value).filter((value) => value !== current)
  return [String(current), ...values].map((value) => code(value.replace(/^https:.*#/, ''))).join(', ')
}

it('the table of features is made from the registry', () => {
  expect(rowsBelow(page, 'Features')).toEqual(knownAgents.map(featuresOf))
})

it('the table of failing endpoints is what the tests with the real agents expect', () => {
  const agents = Object.values(expected).toSorted((a, b) => (a.agent < b.agent ? -1 : 1))
  const rows = rowsBelow(page, 'A model endpoint that fails')
  expect(rows.map(([agent, effect]) => [agent, effect])).toEqual(
    agents.map(({ agent, page: effect }) => [code(agent), code(effect)]),
  )
})

it('the table of modes and models is made from the registry', () => {
  expect(rowsBelow(page, 'Modes, models and thought levels')).toEqual(knownAgents.map(choicesOf))
})
