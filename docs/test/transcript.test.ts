import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import * as expected from '../../conformance/agents/expected.ts'
import { code, rowsBelow } from './table-rows.ts'

const page = readFileSync(new URL('../transcript.md', import.meta.url), 'utf8')

const toolCallStart = {
  first: 'tool_call',
  late: 'tool_call_update',
  never: 'session/request_permission',
} as const

function rowOf(agent: expected.ExpectedBehaviour): string[] {
  const { permissions, mode, toolCall, reports, leavesOpen, modelErrors } = agent
  const errors = new Set(Object.values(modelErrors).map(code))
  return [
    code(agent.agent),
    permissions === undefined ? 'never' : mode === undefined ? 'yes' : `in mode ${code(mode)}`,
    code(toolCallStart[toolCall]),
    reports.usage ? 'yes' : 'no',
    reports.context ? 'yes' : 'no',
    leavesOpen.join(', ') || '–',
    [...errors].join(', '),
  ]
}

it('the table of agents is what the tests with the real agents expect', () => {
  const agents = Object.values(expected).toSorted((a, b) => (a.agent < b.agent ? -1 : 1))
  expect(rowsBelow(page, 'Per agent')).toEqual(agents.map(rowOf))
})
